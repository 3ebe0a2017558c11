/** Changes a value in one place at a time, to values at and beyond the bounds of its schema. */
import type { JsonSchema } from '#runtime/documents/publish'

type Components = ReadonlyMap<string, JsonSchema>

/** The schemas that may apply at one place: references resolved, choices listed. */
function listChoices(schema: JsonSchema, components: Components): JsonSchema[] {
  const {
    $ref,
    anyOf = [],
    allOf = [],
  } = schema as { $ref?: string; anyOf?: JsonSchema[]; allOf?: JsonSchema[] }
  const parts = [...($ref ? [components.get($ref.split('/').at(-1)!)!] : []), ...anyOf, ...allOf]
  return [schema, ...parts.flatMap((each) => listChoices(each, components))]
}

/** Yields copies of a value with one change each, here or below. */
export function* changeInput(schema: JsonSchema, value: unknown, components: Components): Generator<unknown> {
  const choices = listChoices(schema, components)
  if (choices.some((each) => each.readOnly === true)) return
  yield* choices.flatMap(listOddValues)
  if (Array.isArray(value)) {
    if (value.length > 0) yield [...value, value[0]]
    for (const { maxItems } of choices as { maxItems?: number }[])
      if (maxItems !== undefined && maxItems < 200)
        yield Array.from({ length: maxItems + 1 }, (_, i) => value[i % Math.max(1, value.length)] ?? 'x')
    for (const [at, each] of value.entries()) {
      const below = choices.flatMap(
        (choice) => (choice.prefixItems as JsonSchema[] | undefined)?.[at] ?? choice.items ?? [],
      )
      for (const changed of changeInput({ anyOf: below as JsonSchema[] }, each, components))
        yield value.with(at, changed)
    }
  } else if (typeof value === 'object' && value !== null) {
    yield { ...value, surprise: 1 }
    const names = new Set([
      ...Object.keys(value),
      ...choices.flatMap(({ properties }) => Object.keys(properties ?? {})),
    ])
    for (const name of names) {
      const { [name]: each, ...rest } = value as Record<string, unknown>
      if (name in value) yield rest
      const below = choices.flatMap(
        ({ properties, additionalProperties }) =>
          (properties as Record<string, JsonSchema> | undefined)?.[name] ??
          (typeof additionalProperties === 'object' ? (additionalProperties as JsonSchema) : []),
      )
      for (const changed of changeInput({ anyOf: below }, each, components))
        yield { ...rest, [name]: changed }
    }
  }
}

const odd: readonly unknown[] = [null, true, -1, 0, 1.5, '', '   ', 'x', 'a\nb', [], {}]

/** Longer texts would only cost time. */
const longest = 5000

function listOddValues({ enum: values = [], ...schema }: JsonSchema): unknown[] {
  const lengths = [schema.minLength, schema.maxLength].filter(
    (each) => each !== undefined && (each as number) <= longest,
  ) as number[]
  const bounds = ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum'].flatMap(
    (key) => schema[key] ?? [],
  ) as number[]
  const step = schema.type === 'integer' ? 1 : 0.01
  return [
    ...odd,
    ...(values as unknown[]),
    ...('const' in schema ? [schema.const] : []),
    ...lengths.flatMap((length) =>
      [length - 1, length, length + 1].map((each) => 'x'.repeat(Math.max(0, each))),
    ),
    ...bounds.flatMap((bound) => [bound - step, bound, bound + step]),
  ]
}
