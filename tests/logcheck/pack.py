"""Whether the pieces of the shaped guarantees pack: each with devices of its own."""

from .model import BELOW
from .search import Spent


class Pack:
    def __init__(self, replay):
        self.replay = replay
        self.work, self.cluster, self.state = replay.work, replay.cluster, replay.state
        self.memo = (None, True)

    def pieces(self):
        """[(team, level, model, devices)] of teams with a shaped piece, not of teams above."""
        shaped = [t.name for t in self.work.teams.values() if t.shaped]
        above = {name for team in shaped for name in list(self.work.line_of(team))[1:]}
        found = []
        for name in shaped:
            if name not in above:
                for level, model, gpus, count in self.work.teams[name].pieces:
                    found.extend([(name, level, model, -(-gpus // 1))] * count)
        return sorted(found, key=lambda piece: (-piece[3], piece[0], piece[1], piece[2] or ""))

    def holds(self):
        """True, False, or None when the search ran out of steps."""
        key = (self.state.clock, self.replay.next_event)
        if self.memo[0] != key:
            pieces = self.pieces()
            self.memo = (key, self.search(pieces) if pieces else True)
        return self.memo[1]

    def family(self, team):
        return {name for name in self.work.teams if team in self.work.line_of(name)}

    def devices(self, teams):
        """[(host, index, teams that may count on it)], devices that serve nobody left out."""
        families = {team: self.family(team) for team in teams}
        found = []
        for host in self.state.hosts:
            service = host.in_service()
            for index in range(host.node.gpus):
                if not service >> index & 1:
                    continue
                holders = [self.replay.lives[n].job for n, _ in host.devices[index].holders]
                drained = host.drain or host.gpu_drain >> index & 1
                good = frozenset(t for t in teams if self.serves(holders, drained, families[t]))
                if good:
                    found.append((host, index, good))
        return found

    @staticmethod
    def serves(holders, drained, family):
        if drained:
            return bool(holders) and all(job.team in family for job in holders)
        return all(job.preemptible or job.team in family for job in holders)

    def domains(self, host, index, level):
        if level not in BELOW:
            return self.cluster.domain(host.node, level)
        for number, part in enumerate(host.node.parts[level]):
            if part >> index & 1:
                return (host.node.name, number)
        return None

    def search(self, pieces):
        devices = self.devices(sorted({piece[0] for piece in pieces}))
        options = []
        for team, level, model, gpus in pieces:
            places = {}
            for number, (host, index, good) in enumerate(devices):
                domain = self.domains(host, index, level)
                fits = team in good and (model is None or host.node.model == model)
                if fits and domain is not None:
                    places.setdefault(domain, []).append(number)
            options.append([p for p in places.values() if len(p) >= gpus])
        order = sorted(range(len(pieces)), key=lambda i: len(options[i]))
        self.steps = 20000
        owner = {}
        try:
            return self.place(order, pieces, options, owner, 0)
        except Spent:
            self.replay.unproven["guarantee"] += 1
            return None

    def place(self, order, pieces, options, owner, at):
        """Chooses a domain for each piece; devices move between pieces by augmenting paths."""
        if at == len(order):
            return True
        piece = order[at]
        for places in options[piece]:
            self.steps -= 1
            if self.steps < 0:
                raise Spent
            trial = {n: (p, s) for n, (p, s) in owner.items()}
            chosen = set(places)
            if all(self.augment(trial, piece, chosen, set()) for _ in range(pieces[piece][3])):
                if self.place(order, pieces, options, trial, at + 1):
                    return True
        return False

    def augment(self, owner, piece, places, seen):
        """Gives the piece one more device, moving others' along the path if need be."""
        for number in places:
            if number in seen:
                continue
            seen.add(number)
            held = owner.get(number)
            if held is None or (held[0] != piece and self.augment(owner, held[0], held[1], seen)):
                owner[number] = (piece, places)
                return True
        return False
