/** Describes an operation so that a model can call it correctly at the first attempt. */

import { getDescriptor } from '#runtime/documents/descriptors'
import { buildExample } from '#runtime/documents/example'
import { type JsonSchema, publish } from '#runtime/documents/publish'
import type { LoadedOperation } from '#runtime/registry/loaded'
import { listConsequences, listLookFirst } from './consequences.ts'

// biome-ignore lint/plugin/module-state: made once of an operation, which does not change while the server runs
const made = new WeakMap<LoadedOperation, Record<string, unknown>>()

/** Builds the result of the tool `describe_operation`, memoized per operation. */
export function describeOperation(operation: LoadedOperation): Record<string, unknown> {
  const known = made.get(operation)
  if (known) return known
  const { spec, section, minimumRole } = operation
  const { id, method, path, description, scopes, readOnly, pathParameters, deprecated, input } =
    getDescriptor(operation)
  const described = {
    operationId: id,
    method,
    path,
    section: section.title,
    description: spec.details ? `${description} ${spec.details}` : description,
    readOnly,
    ...(deprecated ? { deprecated } : {}),
    consequences: listConsequences(spec),
    lookFirst: listLookFirst(spec),
    needs: { scopes, role: minimumRole, feature: spec.feature ?? null },
    pathParameters,
    query: input?.query ?? null,
    body: input?.body ?? null,
    answer: {
      status: spec.answer.status,
      description: spec.answer.description ?? null,
      schema: spec.answer.body ? publish(spec.answer.body) : null,
    },
    refusals: spec.refuses ?? {},
    example: exampleCall(operation),
  }
  made.set(operation, described)
  return described
}

/** Builds example arguments for `call_operation`: the operation's own example, or values that its schemas accept. */
function exampleCall({ id, spec, parameters }: LoadedOperation): Record<string, unknown> {
  const example = spec.example ?? {}
  const { query, body } = spec.input ?? {}
  const path = Object.fromEntries(
    parameters.map((name) => [name, example.params?.[name] ?? '01890a5d-ac96-774b-bcce-b302099a8057']),
  )
  const sample = example.body ?? (body ? buildSample(publish(body)) : undefined)
  return {
    operationId: id,
    ...(parameters.length > 0 ? { path } : {}),
    ...(query && example.query ? { query: example.query } : {}),
    ...(sample === undefined ? {} : { body: sample }),
  }
}

const buildSample = (schema: JsonSchema): unknown => buildExample(schema)
