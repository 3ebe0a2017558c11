import { textColourOn } from '#runtime/contrast'
import { reference } from '#runtime/references'
import { colour, email, id, instant, named, object, text, writeBody, z } from '#runtime/schema'

const fieldType = z.enum(['text', 'email', 'phone', 'textarea', 'select', 'checkbox'])

const fieldShape = {
  key: z
    .string()
    .regex(
      /^(?!(?:constructor|prototype)$)[a-z][A-Za-z0-9_]{0,39}$/,
      'must begin with a small letter, have at most 40 letters, digits or _, and not be constructor or prototype',
    ),
  label: text(1, 80),
  type: fieldType,
  required: z.boolean(),
  placeholder: z.string().trim().max(80).nullable(),
  options: z.array(text(1, 80)).min(1).max(30).nullable().describe('Only for a select'),
}

const designShape = {
  buttonColor: colour,
  buttonTextColor: textColourOn('buttonColor'),
  backgroundColor: colour,
  textColor: textColourOn('backgroundColor'),
  borderRadius: z.number().int().min(0).max(60).describe('In pixels'),
}

const plainShape = {
  isEnabled: z.boolean(),
  title: z.string().trim().max(120),
  description: z.string().trim().max(500),
  placement: z.enum(['floating', 'inline']),
  position: z.enum(['bottom-left', 'bottom-right']),
  buttonText: text(1, 40),
  successMessage: text(1, 300),
  errorMessage: text(1, 300),
  consentRequired: z.boolean(),
  consentText: z.string().trim().max(500),
  notifyEmails: z.array(email).max(5).describe('Each submission is emailed to them'),
  crmListId: reference('list', id).nullable().describe('List that submissions with a phone are added to'),
  subscribeToNewsletter: z.boolean().describe('Senders who consent and give an email become subscribers'),
}

export const formSettings = named(
  'ContactFormSettings',
  object({
    ...plainShape,
    fields: z.array(object(fieldShape)).min(1).max(15),
    design: object(designShape),
    updatedAt: instant.nullable().describe('null: never saved'),
  }),
)
export type FormSettings = Omit<z.infer<typeof formSettings>, 'updatedAt'>
export type FormField = FormSettings['fields'][number]

export const formInput = writeBody(
  {
    ...plainShape,
    fields: z
      .array(writeBody(fieldShape, [], ['key', 'label', 'type']))
      .min(1)
      .max(15)
      .describe('Replaced whole; `name`, `email`, `phone` and `message` fill the fields of a submission'),
    design: writeBody(designShape, []),
  },
  ['updatedAt'],
)
export type FormInput = z.infer<typeof formInput>
