"""What a run has seen so far of main and of its gates. Shared by its threads, gone with the run."""

from dataclasses import dataclass, field

from noface.core.inventory import Inventory


@dataclass(slots=True)
class Seen:
    """What the gates of a run have shown, by a gate's command, memo key, or tree and command.

    `counts`: how many tests a command ran on main. `rewriting`: commands that write files of main's tree with what they
    hold already. `main_green`: when a gate, by its memo key, last passed on main. `inventories`: which tests a command
    ran on a tree, and `asked` where that was to be found out. `plain`: commands whose test runners are not asked for
    their tests, since they fail when they are.
    """

    counts: dict[str, int] = field(default_factory=dict)
    rewriting: set[str] = field(default_factory=set)
    main_green: dict[str, float] = field(default_factory=dict)
    inventories: dict[tuple[str, str], Inventory] = field(default_factory=dict)
    asked: set[tuple[str, str]] = field(default_factory=set)
    plain: set[str] = field(default_factory=set)
