/** Reads environment variables; the runtime and each section's `environment.ts` declare them. */
import { z } from '#runtime/schema'

/** `MAIL_URL` → `mailUrl`: a setting is named after its variable. */
type SettingName<Variable> = Variable extends `${infer First}_${infer Rest}`
  ? `${Lowercase<First>}${Capitalize<SettingName<Rest>>}`
  : Variable extends string
    ? Lowercase<Variable>
    : never
export type SettingsOf<Variables extends z.ZodRawShape> = {
  [Variable in keyof Variables as SettingName<Variable>]: z.output<Variables[Variable]>
}

/**
 * Validates several settings together. Returns issues in the form `VARIABLE: what is wrong`. Settings that are invalid
 * on their own are absent from `settings`.
 */
type ValidateSettings<Variables extends z.ZodRawShape> = (
  settings: Partial<SettingsOf<Variables>>,
) => string[]

/** The default export of an `environment.ts`. */
export interface Environment<Variables extends z.ZodRawShape = z.ZodRawShape> {
  readonly kind: 'environment'
  readonly variables: Variables
  readonly validate: { of: ValidateSettings<Variables> }['of']
}
export const environment = <Variables extends z.ZodRawShape>(
  variables: Variables,
  validate: ValidateSettings<Variables> = () => [],
): Environment<Variables> => ({ kind: 'environment', variables, validate })

/** Reads the settings of one declaration; they are complete if there are no issues. An empty variable is not set. */
export function readEnvironment<Variables extends z.ZodRawShape>(
  { variables, validate }: Environment<Variables>,
  env: Record<string, string | undefined>,
): { settings: SettingsOf<Variables>; issues: string[] } {
  const settings: Record<string, unknown> = {}
  const issues: string[] = []
  for (const [variable, schema] of Object.entries(variables)) {
    const parsed = schema.safeParse(env[variable] || undefined)
    if (parsed.success) settings[settingName(variable)] = parsed.data
    else issues.push(...parsed.error.issues.map(({ message }) => `${variable}: ${message}`))
  }
  issues.push(...validate(settings as Partial<SettingsOf<Variables>>))
  return { settings: settings as SettingsOf<Variables>, issues }
}

/** Runs a setting's parser, which throws on invalid values; returns issues in the form `VARIABLE: what is wrong`. */
export function findReadIssues(variable: string, read: () => unknown): string[] {
  try {
    read()
    return []
  } catch (error) {
    if (error instanceof URIError)
      return [`${variable}: has a % that is not percent-encoded: write it as %25`]
    const { message } = error as Error
    return [/^[A-Z_]+: /.test(message) ? message : `${variable}: ${message}`]
  }
}

export const settingName = (variable: string): string =>
  variable.toLowerCase().replace(/_(.)/g, (_, first: string) => first.toUpperCase())

export const wholeNumber = (fallback: number, min = 0) =>
  z
    .string()
    .regex(/^\d+$/, 'must be a whole number')
    .default(String(fallback))
    .transform(Number)
    .refine((value) => value >= min, `must be at least ${min}`)
export const onOrOff = (fallback: 'on' | 'off') =>
  z
    .enum(['on', 'off'], { errorMap: () => ({ message: 'must be on or off' }) })
    .default(fallback)
    .transform((value) => value === 'on')
/** A text; null if the variable is not set. */
export const optionalText = z.string().nullable().default(null)
