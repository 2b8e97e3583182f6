"""Orders to submit: made up from a seed, or real ones from a file."""

import json
import random

GOODS = (("TEA-1", "Earl Grey", 450), ("TEA-2", "Lapsang Souchong", 620), ("CUP-1", "Tasse mit Untertasse", 1290), ("POT-1", "Théière", 3490),
         ("JAM-1", "Aprikosenmarmelade", 380), ("BIS-1", "Småkager", 275), ("HON-1", "Miód gryczany", 840))
STREETS = (("59 rue de l'Abbaye", "Reims"), ("Luisenstr. 48", "Münster"), ("Rua do Paço, 67", "Rio de Janeiro"), ("Åkergatan 24", "Bräcke"),
           ("12 Orchestra Terrace", "Walla Walla"))


def made_up(count, seed, first=1, prefix="order-"):
    """`count` orders, each the same whenever it is made from the same seed and number."""
    for number in range(first, first + count):
        dice = random.Random(seed * 1_000_003 + number)
        items = [{"sku": sku, "name": name, "quantity": dice.randint(1, 9), "unit_cents": cents}
                 for sku, name, cents in dice.sample(GOODS, dice.randint(1, 3))]
        street, city = dice.choice(STREETS)
        yield {"id": f"{prefix}{number:05}",
               "input": {"items": items, "amount_cents": sum(item["quantity"] * item["unit_cents"] for item in items),
                         "address": {"street": street, "city": city}}}


def from_file(path):
    """Orders of a JSON-lines file with order_id, items, amount_cents and address."""
    with open(path, encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            if not line.strip():
                continue
            try:
                order = json.loads(line)
                yield {"id": str(order["order_id"]), "input": {name: order[name] for name in ("items", "amount_cents", "address")}}
            except (ValueError, KeyError, TypeError) as error:
                raise ValueError(f"{path}:{number}: not an order with order_id, items, amount_cents and address: {error}") from None
