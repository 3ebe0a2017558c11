/** The OpenAPI document of all operations and the sample ones, with lookups. */
import { buildOpenApi } from '#runtime/documents/openapi'
import type { JsonSchema } from '#runtime/documents/publish'
import { loadRegistry } from '#runtime/registry/registry'
import { sampleOperations, withSampleOperations } from './sample-operations.ts'

export interface Operation {
  operationId: string
  tags: string[]
  summary: string
  parameters?: JsonSchema[]
  requestBody?: { required: boolean; content: { 'application/json': Media } }
  responses: Record<string, Response & { $ref?: string }>
  [key: string]: unknown
}
export interface Response {
  description?: string
  headers?: Record<string, unknown>
  content?: { 'application/json': Media }
}
interface Media {
  schema: JsonSchema
  example?: unknown
}
export interface Document {
  paths: Record<string, Record<string, Operation>>
  components: Record<string, Record<string, JsonSchema>>
  [key: string]: unknown
}

export const registry = withSampleOperations(await loadRegistry())
export const document = buildOpenApi(registry) as unknown as Document

export const findOperation = (id: string): Operation => {
  const found = registry.byId(id) ?? sampleOperations.find((each) => each.id === id)
  const path = found!.spec.path.replace(/:(\w+)/g, '{$1}')
  return document.paths[path]![found!.spec.method.toLowerCase()]!
}

/** Resolves a reference; a description next to it wins. */
export function resolveReference<T>(value: T): T {
  const { $ref, ...beside } = value as T & { $ref?: string }
  if (!$ref) return value
  const [, , kind, name] = $ref.split('/')
  return { ...document.components[kind!]![name!], ...beside } as T
}
