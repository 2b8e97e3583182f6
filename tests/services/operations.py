"""What each of the three services can do, and the fields that it wants. Shared by the services and by those who judge them."""

import dataclasses


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

# The order of the workflow: what must have happened before what is asked for.
STEPS = ("reserve", "charge", "ship")


def by_service_and_path(service, path):
    """None when the service knows no such operation."""
    return SERVICES.get(service, {}).get(path)
