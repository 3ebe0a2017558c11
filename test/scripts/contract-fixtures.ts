/** Contracts with a single call, for comparing its request and answer. */
import type { JsonSchema } from '#runtime/documents/publish'
import type { Call, Contract } from '#scripts/contract/contract'

/** The parts of a call. */
export interface Parts {
  id: string
  access?: NonNullable<Call['access']>
  parameters: Record<string, { required?: true; schema: JsonSchema }>
  body?: { required?: true; schema: JsonSchema }
  answer: { status: string; headers: string[]; schema?: JsonSchema }
}

export function buildCall({ parameters, body, answer, ...rest }: Parts): Call {
  const parts = Object.entries({ ...parameters, ...(body ? { body } : {}) })
  const headers = answer.headers.map((name) => [`answer's header ${name}`, {}])
  return {
    ...rest,
    status: answer.status,
    sent: {
      type: 'object',
      properties: Object.fromEntries(parts.map(([name, { schema }]) => [name, schema])),
      required: parts.filter(([, { required }]) => required).map(([name]) => name),
    },
    answered: {
      type: 'object',
      properties: { ...Object.fromEntries(headers), ...(answer.schema ? { answer: answer.schema } : {}) },
    },
  }
}

export const call: Parts = {
  id: 'post_gadgets',
  access: { scopes: ['platform:write'], role: 'member' },
  parameters: {
    'query page': { schema: { type: 'integer', default: 1 } },
    'query sort': { schema: { type: 'string', enum: ['name', 'age'] } },
  },
  body: { schema: { $ref: '#/components/schemas/GadgetInput' } },
  answer: { status: '201', headers: ['ETag'], schema: { $ref: '#/components/schemas/Gadget' } },
}
export const field: JsonSchema = { type: 'string', maxLength: 20 }
export const buildContract = (
  sent: JsonSchema,
  answered: JsonSchema,
  changed: Partial<Parts> = {},
): Contract => ({
  calls: { 'POST /gadgets': buildCall({ ...call, ...changed }) },
  schemas: {
    Gadget: { type: 'object', properties: { of: answered, name: field }, required: ['of', 'name'] },
    GadgetInput: {
      type: 'object',
      properties: { of: sent, name: field },
      required: ['name'],
      additionalProperties: false,
    },
    Round: { type: 'object', properties: { is: { const: 'round', type: 'string' }, size: field } },
    Circle: { type: 'object', properties: { is: { const: 'round', type: 'string' }, size: field } },
    Square: { type: 'object', properties: { is: { const: 'square', type: 'string' } } },
    Tree: {
      type: 'object',
      properties: { below: { type: 'array', items: { $ref: '#/components/schemas/Tree' } } },
    },
  },
})

/** A reference to a schema of the contract. */
export const named = (name: string): JsonSchema => ({ $ref: `#/components/schemas/${name}` })
