/** A contract of one call, for what is sent and what is answered in it. */
import type { JsonSchema } from '#runtime/documents/publish'
import type { Call, Contract } from '#scripts/contract/contract'

export const call: Call = {
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
export const contractWith = (
  sent: JsonSchema,
  answered: JsonSchema,
  changed: Partial<Call> = {},
): Contract => ({
  calls: { 'POST /gadgets': { ...call, ...changed } },
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
