/** The OpenAPI document of all operations and of the made-up ones, and ways to look into it. */
import { openApiDocument } from '#runtime/documents/openapi'
import type { JsonSchema } from '#runtime/documents/publish'
import { loadRegistry } from '#runtime/registry/registry'
import { madeUpOperations, withMadeUp } from './made-up.ts'

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

export const registry = withMadeUp(await loadRegistry())
export const document = openApiDocument(registry) as unknown as Document

export const inDocument = (id: string): Operation => {
  const found = registry.byId(id) ?? madeUpOperations.find((each) => each.id === id)
  const path = found!.spec.path.replace(/:(\w+)/g, '{$1}')
  return document.paths[path]![found!.spec.method.toLowerCase()]!
}

/** What a reference leads to; another description beside it holds. */
export function resolved<T>(value: T): T {
  const { $ref, ...beside } = value as T & { $ref?: string }
  if (!$ref) return value
  const [, , kind, name] = $ref.split('/')
  return { ...document.components[kind!]![name!], ...beside } as T
}
