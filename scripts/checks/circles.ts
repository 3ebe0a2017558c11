/** Circles of a graph: who imports whom until it comes back. */

/** By node, what it points at. */
export type Graph = ReadonlyMap<string, ReadonlySet<string>>

export function addEdge(graph: Map<string, Set<string>>, from: string, to: string): void {
  const targets = graph.get(from) ?? new Set()
  graph.set(from, targets.add(to))
}

/** Of each knot the shortest way round from the first of its nodes, which is named at both ends. */
export function circlesOf(graph: Graph): string[][] {
  return knotsOf(graph).map((knot) => {
    const [first] = knot.sort() as [string]
    return wayRound(graph, first, new Set(knot))
  })
}

/** Nodes that reach each other (Tarjan), of more than one. */
function knotsOf(graph: Graph): string[][] {
  const knots: string[][] = []
  const numbers = new Map<string, number>()
  const lowest = new Map<string, number>()
  const open: string[] = []
  const isOpen = new Set<string>()
  const lower = (node: string, to: number): void =>
    void lowest.set(node, Math.min(lowest.get(node) ?? to, to))
  const visit = (node: string): void => {
    const number = numbers.size
    numbers.set(node, number)
    lower(node, number)
    open.push(node)
    isOpen.add(node)
    for (const next of graph.get(node) ?? []) {
      if (!numbers.has(next)) visit(next)
      if (isOpen.has(next)) lower(node, lowest.get(next)!)
    }
    if (lowest.get(node) !== number) return
    const knot = open.splice(open.indexOf(node))
    for (const each of knot) isOpen.delete(each)
    if (knot.length > 1) knots.push(knot)
  }
  for (const node of graph.keys()) if (!numbers.has(node)) visit(node)
  return knots
}

/** Breadth first, within the knot. */
function wayRound(graph: Graph, first: string, knot: ReadonlySet<string>): string[] {
  const ways: string[][] = [[first]]
  const seen = new Set<string>()
  for (const way of ways) {
    for (const next of graph.get(way.at(-1)!) ?? []) {
      if (next === first) return [...way, first]
      if (!knot.has(next) || seen.has(next)) continue
      seen.add(next)
      ways.push([...way, next])
    }
  }
  return [first]
}
