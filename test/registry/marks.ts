/** Which fields of a body name something, by its schema. */
import { innerOf, referenceOf } from '#runtime/references'
import type { LoadedOperation } from '#runtime/registry/loaded'
import { ignoredKeys, z } from '#runtime/schema'

const isFree = (schema: z.ZodTypeAny): boolean => {
  const inner = innerOf(schema)
  return inner ? isFree(inner) : schema instanceof z.ZodRecord
}

/** What a body of an operation is read by; where it takes a free object, the resource that it answers says what it is. */
export function bodySchemaOf({ spec }: LoadedOperation): z.ZodTypeAny {
  const { body } = spec.input ?? {}
  const answer = spec.answer.body
  if (!(body instanceof z.ZodObject)) return body ?? z.object({})
  if (!(answer instanceof z.ZodObject)) return body
  const shown = answer.shape as z.ZodRawShape
  const free = Object.entries(body.shape as z.ZodRawShape).filter(
    ([name, field]) => isFree(field) && shown[name],
  )
  return body.extend(Object.fromEntries(free.map(([name]) => [name, shown[name]!])))
}

/** Where a schema has marks: fields without the indices of their lists, with what they name. */
export function marksOf(schema: z.ZodTypeAny, path = ''): { field: string; kind: string }[] {
  const kind = referenceOf(schema)
  if (kind !== undefined) return [{ field: path, kind }]
  const inner = innerOf(schema)
  if (inner) return marksOf(inner, path)
  const at = (name: string): string => (path === '' ? name : `${path}.${name}`)
  if (schema instanceof z.ZodArray) return marksOf(schema.element, path)
  if (schema instanceof z.ZodDiscriminatedUnion || schema instanceof z.ZodUnion) {
    return (schema.options as z.ZodTypeAny[]).flatMap((option) => marksOf(option, path))
  }
  if (!(schema instanceof z.ZodObject)) return []
  const ignored = ignoredKeys(schema)
  return Object.entries(schema.shape as z.ZodRawShape).flatMap(([name, field]) =>
    ignored.has(name) ? [] : marksOf(field, at(name)),
  )
}

/** A field without the indices in it. */
export const withoutIndices = (field: string): string => field.replace(/\.\d+(?=\.|$)/g, '')
