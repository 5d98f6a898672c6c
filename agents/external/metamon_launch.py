"""Runs in metamon's own environment: `python metamon_launch.py URI TEAMS [OPTION of metamon.rl.evaluate]...`.

URI: our server's websocket. TEAMS: a folder with its team, as FORMAT/team.FORMAT_team.
metamon's play is not changed. Its evaluator connects to the server of poke-env's `LocalhostServerConfiguration`, at a fixed
port, and samples teams from downloaded sets; here it gets our server and the fixture's team.
"""

import runpy
import sys


def _main():
    uri, teams, *options = sys.argv[1:]
    sys.argv = ["metamon.rl.evaluate", *options]
    del sys.path[0]  # this file's folder, which has another module named metamon

    import poke_env

    usual = poke_env.LocalhostServerConfiguration
    # Older versions of poke-env expect HOST:PORT there.
    address = uri if "://" in usual[0] else uri.split("/")[2]
    poke_env.LocalhostServerConfiguration = type(usual)(address, *usual[1:])

    import metamon.env

    def given_team(battle_format, set_name, set_type=metamon.env.TeamSet):
        return set_type(teams, battle_format)

    metamon.env.get_metamon_teams = given_team
    runpy.run_module("metamon.rl.evaluate", run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    _main()
