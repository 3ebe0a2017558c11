import { allScopes } from '#runtime/roles'
import { day, named, object, z } from '#runtime/schema'

/** A JSON Schema that may have any keyword; the four below are always present. */
const inputSchema = named(
  'InputSchema',
  z
    .object({
      type: z.literal('object'),
      properties: z.record(z.record(z.unknown())).describe('A JSON Schema for each field'),
      required: z.array(z.string()),
      additionalProperties: z
        .union([z.boolean(), z.record(z.unknown())])
        .describe('Whether other fields are taken; or the JSON Schema of each'),
    })
    .passthrough()
    .describe('JSON Schema 2020-12 of an object, without references'),
)

export const descriptor = named(
  'Descriptor',
  object({
    id: z.string().describe('The `operationId`'),
    method: z.enum(['GET', 'POST', 'PUT', 'PATCH', 'DELETE']),
    path: z.string().describe('Without `/v1`, parameters as `:name`'),
    description: z.string(),
    scopes: z.array(z.enum(allScopes)).describe('What the key must have, all of them'),
    readOnly: z.boolean().describe('Whether it changes nothing'),
    pathParameters: z
      .array(
        object({
          name: z.string(),
          description: z.string(),
          required: z.literal(true),
          schema: object({ type: z.literal('string') }),
        }),
      )
      .describe('In the order of the path'),
    deprecated: object({
      since: day,
      sunset: day.nullable().describe('From when it may be gone'),
      link: z.string().nullable().describe('A page that says what replaces it'),
    })
      .nullable()
      .describe('Null while nothing replaces it'),
    input: object({ query: inputSchema.optional(), body: inputSchema.optional() })
      .optional()
      .describe('Left out when it takes neither query nor body'),
  }),
)

const byName = z.record(z.record(z.unknown())).describe('OpenAPI objects by their names')

export const openApi = named(
  'OpenApiDocument',
  object({
    openapi: z.literal('3.1.0'),
    info: object({
      title: z.string(),
      version: z.string(),
      summary: z.string(),
      description: z.string(),
      contact: object({ name: z.string() }),
      license: object({ name: z.string(), identifier: z.string() }),
    }),
    servers: z.array(object({ url: z.string() })),
    tags: z.array(object({ name: z.string(), description: z.string() })),
    paths: z.record(byName).describe('Path Items by path, Operations by method'),
    components: object({
      securitySchemes: byName,
      parameters: byName.optional(),
      headers: byName,
      responses: byName,
      schemas: byName,
    }),
  }).describe('An OpenAPI 3.1.0 document'),
)
