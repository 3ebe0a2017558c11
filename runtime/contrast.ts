/**
 * Colours that shoppers see on others say so in their schema: whoever saves them is told where they can hardly be
 * told apart, and is not refused (runtime, rule 36).
 */
import { colour, type z } from './schema.ts'
import { contrastOf, shadeFor } from './values/contrast.ts'

export interface Ground {
  /** A field beside it, or a colour that never changes. */
  on: string
  least: number
  what: string
}

const mark = Symbol('ground')
type Marked = z.ZodTypeDef & { [mark]?: Ground }

/** What is made of it (nullable, described, bounded) keeps the mark. */
function declared<T extends z.ZodTypeAny>(schema: T, ground: Ground): T {
  const sentence = `Contrast with ${ground.on}: ${ground.least}:1 at least; less is saved, and warned of`
  const description = schema.description ? `${schema.description}. ${sentence}` : sentence
  const Made = schema.constructor as new (definition: unknown) => T
  return new Made({ ...schema._def, description, [mark]: ground })
}

/** The colour of text; `on`: the field beside it, or the colour, that it is read on. */
export const readOn = <T extends z.ZodTypeAny = typeof colour>(on: string, schema?: T): T =>
  declared((schema ?? colour) as T, { on, least: 4.5, what: 'text' })
/** The colour of a sign or a line that means something; `on`: what it is seen on. */
export const seenOn = <T extends z.ZodTypeAny = typeof colour>(on: string, schema?: T): T =>
  declared((schema ?? colour) as T, { on, least: 3, what: 'signs' })

export const groundOf = (schema: z.ZodTypeAny): Ground | undefined => (schema._def as Marked)[mark]

/** A literal is its own; a field that has none (null: the page shows) says nothing. */
const groundIn = ({ on }: Ground, beside: Record<string, unknown>): unknown =>
  on.startsWith('#') ? on : beside[on]

/** What is wrong with a field that stands beside others; null: nothing. `path`: of the object that it is in. */
export function faintness(
  ground: Ground,
  field: string,
  path: string,
  beside: Record<string, unknown>,
): string | null {
  const [front, under] = [beside[field], groundIn(ground, beside)]
  if (typeof front !== 'string' || typeof under !== 'string') return null
  const ratio = contrastOf(front, under)
  if (ratio === null || ratio >= ground.least) return null
  const shade = shadeFor(front, under, ground.least)
  const named = ground.on.startsWith('#') ? under : `${path}${ground.on} (${under})`
  const remedy = shade
    ? `choose a darker or lighter one, such as ${shade}`
    : `let less of the page show through ${ground.on}`
  return (
    // biome-ignore lint/plugin/cents: a ratio of luminances, not money
    `${path}${field}: ${front} has a contrast of ${Math.floor(ratio * 100) / 100}:1 on ${named}, and ${ground.what} ` +
    `that everybody can see needs ${ground.least}:1: ${remedy}`
  )
}
