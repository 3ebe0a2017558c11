/**
 * Contrast annotations: the schema of a colour names the background on which shoppers see it. A write with too little
 * contrast is stored, and answered with a warning (runtime, rule 36).
 */
import { colour, type z } from './schema.ts'
import { computeContrast, findShade } from './values/contrast.ts'

export interface ContrastRule {
  /** The background: the name of a sibling field, or a fixed colour. */
  on: string
  minimum: number
  subject: string
}

const ruleKey = Symbol('contrast rule')
type Marked = z.ZodTypeDef & { [ruleKey]?: ContrastRule }

/** Adds a rule to a schema. Schemas that are derived from the result (nullable, described, bounded) keep the rule. */
function annotate<T extends z.ZodTypeAny>(schema: T, rule: ContrastRule): T {
  const sentence = `Contrast with ${rule.on}: ${rule.minimum}:1 at least; less is saved, and warned of`
  const description = schema.description ? `${schema.description}. ${sentence}` : sentence
  const Made = schema.constructor as new (definition: unknown) => T
  return new Made({ ...schema._def, description, [ruleKey]: rule })
}

/** The schema of a text colour. `on`: its background, a sibling field or a fixed colour. */
export const textColourOn = <T extends z.ZodTypeAny = typeof colour>(on: string, schema?: T): T =>
  annotate((schema ?? colour) as T, { on, minimum: 4.5, subject: 'text' })
/** The schema of the colour of an icon or a line that carries meaning. `on`: as in `textColourOn`. */
export const graphicColourOn = <T extends z.ZodTypeAny = typeof colour>(on: string, schema?: T): T =>
  annotate((schema ?? colour) as T, { on, minimum: 3, subject: 'signs' })

export const getContrastRule = (schema: z.ZodTypeAny): ContrastRule | undefined =>
  (schema._def as Marked)[ruleKey]

/** Returns the background's colour. Undefined or null if the field has no value: the page shows through, unchecked. */
const resolveBackground = ({ on }: ContrastRule, siblings: Record<string, unknown>): unknown =>
  on.startsWith('#') ? on : siblings[on]

/** Returns the warning about a field's contrast, or null. `path`: the path of the object that contains the field. */
export function checkContrast(
  rule: ContrastRule,
  field: string,
  path: string,
  siblings: Record<string, unknown>,
): string | null {
  const [front, under] = [siblings[field], resolveBackground(rule, siblings)]
  if (typeof front !== 'string' || typeof under !== 'string') return null
  const ratio = computeContrast(front, under)
  if (ratio === null || ratio >= rule.minimum) return null
  const shade = findShade(front, under, rule.minimum)
  const named = rule.on.startsWith('#') ? under : `${path}${rule.on} (${under})`
  const remedy = shade
    ? `choose a darker or lighter one, such as ${shade}`
    : `let less of the page show through ${rule.on}`
  return (
    // biome-ignore lint/plugin/cents: a ratio of luminances, not money
    `${path}${field}: ${front} has a contrast of ${Math.floor(ratio * 100) / 100}:1 on ${named}, and ${rule.subject} ` +
    `that everybody can see needs ${rule.minimum}:1: ${remedy}`
  )
}
