/** Finds the reference fields of a body by its schema. */
import { getReferenceKind, unwrapSchema } from '#runtime/references'
import type { LoadedOperation } from '#runtime/registry/loaded'
import { ignoredKeys, z } from '#runtime/schema'

const isFree = (schema: z.ZodTypeAny): boolean => {
  const inner = unwrapSchema(schema)
  return inner ? isFree(inner) : schema instanceof z.ZodRecord
}

/** Body schema of an operation; for a free object, the schema of the resource in its answer. */
export function getBodySchema({ spec }: LoadedOperation): z.ZodTypeAny {
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

/** Fields with a reference annotation and their kind, without list indices. */
export function findReferenceFields(schema: z.ZodTypeAny, path = ''): { field: string; kind: string }[] {
  const kind = getReferenceKind(schema)
  if (kind !== undefined) return [{ field: path, kind }]
  const inner = unwrapSchema(schema)
  if (inner) return findReferenceFields(inner, path)
  const at = (name: string): string => (path === '' ? name : `${path}.${name}`)
  if (schema instanceof z.ZodArray) return findReferenceFields(schema.element, path)
  if (schema instanceof z.ZodDiscriminatedUnion || schema instanceof z.ZodUnion) {
    return (schema.options as z.ZodTypeAny[]).flatMap((option) => findReferenceFields(option, path))
  }
  if (!(schema instanceof z.ZodObject)) return []
  const ignored = ignoredKeys(schema)
  return Object.entries(schema.shape as z.ZodRawShape).flatMap(([name, field]) =>
    ignored.has(name) ? [] : findReferenceFields(field, at(name)),
  )
}

/** A field path without list indices. */
export const withoutIndices = (field: string): string => field.replace(/\.\d+(?=\.|$)/g, '')
