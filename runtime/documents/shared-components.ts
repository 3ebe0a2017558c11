/**
 * Moves equal parts of operations into the document's components. Their names are derived from their content and not
 * from where they occur, so that a new operation changes no name.
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

  /** Registers the part `holder[key]`. Without a name the part stays inline. */
  add(name: string | null, holder: Holder, key: string | number): void {
    if (name === null) return
    const value = holder[key] as JsonSchema
    const text = `${name} ${JSON.stringify(value)}`
    const piece = this.#pieces.get(text) ?? { name, value: value, places: [] }
    piece.places.push([holder, key])
    this.#pieces.set(text, piece)
  }

  /**
   * Returns the parts that occur more than once, and replaces each occurrence by a `$ref`. If different parts have the
   * same name, the most frequent one gets it and the others stay inline.
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
