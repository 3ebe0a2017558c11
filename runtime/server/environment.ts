/** Variables of the environment, as the runtime and each section's `environment.ts` declare them. */
import { z } from '#runtime/schema'

/** `MAIL_URL` → `mailUrl`: a setting's name is its variable's. */
type SettingName<Variable> = Variable extends `${infer First}_${infer Rest}`
  ? `${Lowercase<First>}${Capitalize<SettingName<Rest>>}`
  : Variable extends string
    ? Lowercase<Variable>
    : never
export type SettingsOf<Variables extends z.ZodRawShape> = {
  [Variable in keyof Variables as SettingName<Variable>]: z.output<Variables[Variable]>
}

/** Says what is wrong with several of them together, as `VARIABLE: what is wrong`; one that is wrong by itself is left out. */
type FaultsOf<Variables extends z.ZodRawShape> = (settings: Partial<SettingsOf<Variables>>) => string[]

/** The default export of an `environment.ts`. */
export interface Environment<Variables extends z.ZodRawShape = z.ZodRawShape> {
  readonly kind: 'environment'
  readonly variables: Variables
  readonly faultsOf: { of: FaultsOf<Variables> }['of']
}
export const environment = <Variables extends z.ZodRawShape>(
  variables: Variables,
  faultsOf: FaultsOf<Variables> = () => [],
): Environment<Variables> => ({ kind: 'environment', variables, faultsOf })

/** The settings of one declaration, complete where there are no faults. An empty variable counts as not set. */
export function readEnvironment<Variables extends z.ZodRawShape>(
  { variables, faultsOf }: Environment<Variables>,
  env: Record<string, string | undefined>,
): { settings: SettingsOf<Variables>; faults: string[] } {
  const settings: Record<string, unknown> = {}
  const faults: string[] = []
  for (const [variable, schema] of Object.entries(variables)) {
    const parsed = schema.safeParse(env[variable] || undefined)
    if (parsed.success) settings[settingName(variable)] = parsed.data
    else faults.push(...parsed.error.issues.map(({ message }) => `${variable}: ${message}`))
  }
  faults.push(...faultsOf(settings as Partial<SettingsOf<Variables>>))
  return { settings: settings as SettingsOf<Variables>, faults }
}

/** What is wrong with a setting that `read` throws at, as `VARIABLE: what is wrong`. */
export function faultsOfReading(variable: string, read: () => unknown): string[] {
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
/** Null: not set. */
export const optionalText = z.string().nullable().default(null)
