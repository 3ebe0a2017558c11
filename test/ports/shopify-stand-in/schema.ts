/** The published schema, reduced by ./generate.ts, with scalars that accept exactly what Shopify documents. */
import { readFileSync } from 'node:fs'
import { buildSchema, type GraphQLScalarType, Kind, type ValueNode } from 'graphql'

export const schema = buildSchema(readFileSync(new URL('admin.graphql', import.meta.url), 'utf8'))

const forms: Record<string, RegExp> = {
  DateTime: /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/,
  Decimal: /^-?\d+(\.\d+)?$/,
  Money: /^-?\d+(\.\d+)?$/,
  URL: /^https?:\/\//,
  UnsignedInt64: /^\d+$/,
}

for (const [name, form] of Object.entries(forms)) {
  const scalar = schema.getType(name) as GraphQLScalarType
  const checked = (value: unknown): string => {
    if (!form.test(String(value))) throw new TypeError(`${String(value)} is no ${name}`)
    return String(value)
  }
  scalar.serialize = checked
  scalar.parseValue = checked
  scalar.parseLiteral = (node: ValueNode) => checked(isWritten(node) ? node.value : node.kind)
}

const isWritten = (node: ValueNode) =>
  node.kind === Kind.STRING || node.kind === Kind.INT || node.kind === Kind.FLOAT
