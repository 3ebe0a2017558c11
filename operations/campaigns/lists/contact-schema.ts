import { personAddress } from '#operations/messaging/index'
import { email, id, instant, named, object, searchText, text, writeBody, z } from '#runtime/schema'
import { listSource } from './schema.ts'

/** Names of the built-in variables, which no custom field may have. */
export const reservedFields: readonly string[] = [
  'name',
  'customerName',
  'firstName',
  'phone',
  'email',
  'storeName',
  'storeUrl',
  // The gateway forbids them as names of fields.
  'constructor',
  'prototype',
]
export const maxCustomFields = 20
export const maxCustomValueLength = 500

export const customFieldName = z
  .string()
  .regex(
    /^(?!(?:name|customerName|firstName|phone|email|storeName|storeUrl|constructor|prototype)$)[A-Za-z][A-Za-z0-9_]{0,39}$/,
    `is no name of a custom field: a letter, then at most 39 letters, digits or _, and none of ${reservedFields.join(', ')}`,
  )

const name = z.string().trim().max(120)

export const contact = named(
  'Contact',
  object({
    id,
    listId: id,
    phone: z.string().describe('E.164, or the WhatsApp id of a person whose phone is hidden'),
    name: name.nullable(),
    email: email.nullable(),
    customFields: z.record(customFieldName, text(1, maxCustomValueLength)).describe('At most 20'),
    source: z.enum([...listSource.options, 'contact-form']).describe('What added it first'),
    platformCustomerId: z.string().nullable(),
    optedOut: z.boolean().describe('Now'),
    createdAt: instant,
    updatedAt: instant,
  }),
  { volatileFields: ['optedOut'] },
)

const customFieldsInput = z
  .record(customFieldName, text(1, maxCustomValueLength).nullable())
  .refine((fields) => Object.keys(fields).length <= maxCustomFields, 'must have at most 20 fields')

export const newContactBody = writeBody(
  {
    phone: personAddress,
    name: name.nullable(),
    email: email.nullable(),
    customFields: customFieldsInput,
  },
  ['id', 'listId', 'source', 'platformCustomerId', 'optedOut', 'createdAt', 'updatedAt'],
  ['phone'],
)
export type NewContact = z.infer<typeof newContactBody>

/** The search of the list of contacts and of its export. */
export const contactSearch = searchText('In name, email or digits of the phone')
