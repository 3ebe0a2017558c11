import { reference } from '#runtime/references'
import { count, instant, named, object, text, z } from '#runtime/schema'

export const languages = [
  'pt_BR',
  'pt_PT',
  'en',
  'en_US',
  'en_GB',
  'es',
  'es_AR',
  'es_ES',
  'es_MX',
  'fr',
  'de',
  'it',
  'nl',
] as const

export const templateStatus = z.enum(['pending', 'approved', 'rejected', 'paused', 'disabled'])
export const templateCategory = z.enum(['marketing', 'utility', 'authentication'])
const rejectionReason = z.enum([
  'abusive-content',
  'category-not-available',
  'incorrect-category',
  'invalid-format',
  'promotional',
  'scam',
  'tag-content-mismatch',
  'other',
])

const header = object({
  type: z.enum(['text', 'image', 'video', 'document', 'location']),
  text: z.string().trim().max(60).nullable(),
  mediaUrl: reference('file', z.string().max(2000))
    .nullable()
    .describe('A fileUrl of header-media, uploaded already'),
})
const button = object({
  type: z.enum(['quick-reply', 'url', 'phone', 'coupon-code']),
  text: z.string().trim().max(25).nullable(),
  url: z.string().max(2000, 'must have at most 2000 characters').nullable(),
  phone: z.string().max(40).nullable(),
})
const exampleList = z.array(text(1, 200)).max(20)
const examples = object({ header: exampleList, body: exampleList, buttons: exampleList }).describe(
  'One for each placeholder; buttons in the order of those with a placeholder and of coupon codes',
)

export const template = named(
  'Template',
  object({
    id: z.number().int(),
    name: z.string(),
    language: z.string(),
    category: templateCategory,
    header: header.nullable(),
    body: z.string(),
    footer: z.string().nullable(),
    buttons: z.array(button).max(10),
    examples,
    status: templateStatus,
    rejectionReason: rejectionReason.nullable(),
    quality: z.enum(['unknown', 'green', 'yellow', 'red']),
    placeholders: object({ header: count, body: count, buttons: count }),
    pausedUntil: instant.nullable(),
    nextEditAt: instant.nullable().describe('When an edit is allowed again, while the limit holds'),
    inUse: z.boolean().describe('An active automation, a live campaign or an enabled setting names it'),
    submittedAt: instant.nullable(),
    reviewedAt: instant.nullable(),
    syncedAt: instant.nullable(),
    createdAt: instant,
    updatedAt: instant,
  }),
  {
    volatileFields: [
      'status',
      'rejectionReason',
      'quality',
      'pausedUntil',
      'nextEditAt',
      'inUse',
      'submittedAt',
      'reviewedAt',
      'syncedAt',
      'updatedAt',
    ],
  },
)

/** The writable fields. Values that only templates from the provider may have are refused in `rules.ts`, not here. */
export const templateInput = {
  name: z.string().regex(/^[a-z0-9_]{1,512}$/, 'must be 1 to 512 lower-case letters, digits and _'),
  language: z
    .string()
    .min(1)
    .max(20)
    .describe(`Of a new one: ${languages.join(', ')}`),
  category: templateCategory.describe('Of a new one: marketing or utility'),
  header: header.partial().nullable(),
  body: text(1, 1024),
  footer: text(1, 60).nullable(),
  buttons: z.array(button.partial()).max(10),
  examples: examples.partial().strict(),
}
export const templateReadOnly = Object.keys(template.shape).filter((key) => !(key in templateInput))

export interface TemplateChange {
  name?: string | undefined
  language?: string | undefined
  category?: z.infer<typeof templateCategory> | undefined
  header?: z.infer<typeof templateInput.header> | undefined
  body?: string | undefined
  footer?: string | null | undefined
  buttons?: z.infer<typeof templateInput.buttons> | undefined
  examples?: z.infer<typeof templateInput.examples> | undefined
}
