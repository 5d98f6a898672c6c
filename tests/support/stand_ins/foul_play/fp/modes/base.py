"""A stand-in for foul-play's texts of decisions."""


def format_decision(battle, decision):
    if decision.startswith("switch "):
        names = [entry["details"].partition(",")[0] for entry in battle.request["side"]["pokemon"]]
        return [f"/switch {names.index(decision.removeprefix('switch ')) + 1}", str(battle.request["rqid"])]
    return [f"/choose move {decision}", str(battle.request["rqid"])]
