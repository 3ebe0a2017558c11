/**
 * What operations say alike, said once in the components. Names come from what is said and not from where, so that one
 * more operation changes none of them.
 */
import type { JsonSchema } from './publish.ts'

type Holder = Record<string | number, unknown>
interface Piece {
  name: string
  said: JsonSchema
  places: [Holder, string | number][]
}

/** Pieces of one kind, each where it was noted. */
export class Shared {
  readonly #pieces = new Map<string, Piece>()

  /** `holder[key]` says this; without a name it stays there. */
  note(name: string | null, holder: Holder, key: string | number): void {
    if (name === null) return
    const said = holder[key] as JsonSchema
    const text = `${name} ${JSON.stringify(said)}`
    const piece = this.#pieces.get(text) ?? { name, said, places: [] }
    piece.places.push([holder, key])
    this.#pieces.set(text, piece)
  }

  /**
   * The components: what stands more than once, which a reference takes the place of. Of unlike ones with one name the
   * most frequent has it, and the others stay where they are.
   */
  components(kind: string): Record<string, JsonSchema> {
    const made: Record<string, JsonSchema> = {}
    const frequentFirst = [...this.#pieces.values()].sort((a, b) => b.places.length - a.places.length)
    for (const { name, said, places } of frequentFirst) {
      if (places.length < 2 || name in made) continue
      made[name] = said
      for (const [holder, key] of places) holder[key] = { $ref: `#/components/${kind}/${name}` }
    }
    return Object.fromEntries(Object.entries(made).sort(([a], [b]) => (a < b ? -1 : 1)))
  }
}
