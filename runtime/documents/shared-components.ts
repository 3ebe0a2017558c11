/**
 * Equal parts of operations, moved into the components. Their names derive from their content and not from their
 * place, so that a new operation changes none of them.
 */
import type { JsonSchema } from './publish.ts'

type Holder = Record<string | number, unknown>
interface SharedPart {
  name: string
  value: JsonSchema
  places: [Holder, string | number][]
}

/** Parts of one kind, each with the places where it occurs. */
export class SharedComponents {
  readonly #pieces = new Map<string, SharedPart>()

  /** Registers `holder[key]`; without a name it stays inline. */
  add(name: string | null, holder: Holder, key: string | number): void {
    if (name === null) return
    const value = holder[key] as JsonSchema
    const text = `${name} ${JSON.stringify(value)}`
    const piece = this.#pieces.get(text) ?? { name, value: value, places: [] }
    piece.places.push([holder, key])
    this.#pieces.set(text, piece)
  }

  /**
   * Parts that occur more than once, replaced by a `$ref`. If different parts share a name the most frequent one gets
   * it, and the others stay inline.
   */
  components(kind: string): Record<string, JsonSchema> {
    const made: Record<string, JsonSchema> = {}
    const frequentFirst = [...this.#pieces.values()].sort((a, b) => b.places.length - a.places.length)
    for (const { name, value, places } of frequentFirst) {
      if (places.length < 2 || name in made) continue
      made[name] = value
      for (const [holder, key] of places) holder[key] = { $ref: `#/components/${kind}/${name}` }
    }
    return Object.fromEntries(Object.entries(made).sort(([a], [b]) => (a < b ? -1 : 1)))
  }
}
