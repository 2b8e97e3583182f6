"""What each of the three services can do, the fields that it wants, and the orders that it refuses. Shared by the services and by those
who judge them."""

import dataclasses
import hashlib


@dataclasses.dataclass(frozen=True)
class operation:
    name: str
    step: str       # the step of the order workflow that calls it
    direction: str  # perform | undo
    fields: tuple   # required in the body


SERVICES = {
    "inventory": {
        "/reservations": operation("reserve", "reserve", "perform", ("order", "items")),
        "/reservations/release": operation("release", "reserve", "undo", ("order",)),
    },
    "payment": {
        "/charges": operation("charge", "charge", "perform", ("order", "amount_cents")),
        "/charges/refund": operation("refund", "charge", "undo", ("order",)),
    },
    "shipping": {
        "/shipments": operation("dispatch", "ship", "perform", ("order", "address")),
        "/shipments/recall": operation("recall", "ship", "undo", ("order",)),
    },
}


@dataclasses.dataclass(frozen=True)
class refusal:
    """Why a step of some orders can never be performed. One that is not found out at once takes the work and meets the faults of any
    other request, so that a step that was refused may have been in doubt before."""
    step: str
    status: int
    code: str
    at_once: bool


REFUSALS = (refusal("charge", 402, "card_declined", at_once=False), refusal("ship", 422, "address_unknown", at_once=True))


def refused(order, rate, seed):
    """The refusal that this order meets, whoever asks and however often; None for the others. `rate`: the share that meets one."""
    digest = hashlib.blake2b(f"{seed}:refused:{order}".encode(), digest_size=16).digest()
    if int.from_bytes(digest[:8], "big") / 2**64 >= rate:
        return None
    return REFUSALS[digest[8] % len(REFUSALS)]


# The order of the workflow: what must have happened before what is asked for.
STEPS = ("reserve", "charge", "ship")


def by_service_and_path(service, path):
    """None when the service knows no such operation."""
    return SERVICES.get(service, {}).get(path)
