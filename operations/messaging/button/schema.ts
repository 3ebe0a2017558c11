import { textColourOn } from '#runtime/contrast'
import { reference } from '#runtime/references'
import { colour, count, httpsUrl, id, instant, line, named, object, setOf, text, z } from '#runtime/schema'
import { findVariableIssue } from '#runtime/values/variables'
import { getEnglishTexts, type Words } from '#runtime/values/wording'

const messageVariables = new Set(['storeName', 'pageUrl', 'pageTitle', 'productName'])

const phone = z.string().max(40)
const timeOfDay = z.string().regex(/^([01]\d|2[0-3]):[0-5]\d$/, 'must be a time such as 09:00')
const avatarUrl = reference('file', httpsUrl)
const attendant = object({
  name: line(1, 60),
  role: line(1, 60).nullable(),
  phone,
  avatarUrl: avatarUrl.nullable(),
})
const hours = object({
  day: z.enum(['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun']),
  start: timeOfDay,
  end: timeOfDay,
})
const schedule = object({
  isEnabled: z.boolean(),
  hours: z.array(hours).max(21).describe("In the store's time zone; start before end, not overlapping"),
  outside: z.enum(['hide', 'show']),
  outsideMessage: text(1, 300).nullable(),
})
const pixels = z.number().int().min(0).max(300)

const fields = {
  isEnabled: z.boolean(),
  phone: phone.nullable().describe('Null: the connected number'),
  message: z
    .string()
    .max(1000, 'must have at most 1000 characters')
    .superRefine((value, check) => {
      const fault = findVariableIssue(value, messageVariables)
      if (fault) check.addIssue({ code: z.ZodIssueCode.custom, message: fault })
    })
    .describe('Typed in for the visitor; knows {{storeName}}, {{pageUrl}}, {{pageTitle}}, {{productName}}'),
  label: line(1, 40).nullable(),
  tooltip: line(1, 120).nullable(),
  tooltipDelaySeconds: z.number().int().min(0).max(120),
  position: z.enum(['bottom-right', 'bottom-left']),
  offsetX: pixels,
  offsetY: pixels,
  mobileOffsetY: pixels.describe('Keeps clear of a buy bar on phones'),
  size: z.number().int().min(40).max(96),
  backgroundColor: colour,
  iconColor: textColourOn('backgroundColor'),
  devices: z.enum(['all', 'desktop', 'mobile']),
  pageMode: z.enum(['all', 'include', 'exclude']),
  pagePatterns: setOf(line(1, 200), 50).describe(
    'Paths or full addresses; `*` stands for any run of characters',
  ),
  attendants: z.array(attendant).max(10).describe('With any, the button opens a choice'),
  schedule,
}
const content = object(fields)
export type ButtonContent = z.infer<typeof content>

export const messagingButton = named(
  'MessagingButton',
  object({
    id: id.nullable().describe('Null until it is created'),
    ...fields,
    effectivePhone: z.string().nullable().describe('The number it opens'),
    clicks30d: count,
    impressions30d: count,
    createdAt: instant.nullable(),
    updatedAt: instant.nullable(),
  }),
  { volatileFields: ['effectivePhone', 'clicks30d', 'impressions30d'] },
)

export const buttonInput = {
  ...fields,
  attendants: z
    .array(
      attendant.extend({ role: attendant.shape.role.optional(), avatarUrl: avatarUrl.nullish() }).strict(),
    )
    .max(10),
  schedule: schedule.partial().strict(),
}
export const buttonReadOnly = Object.keys(messagingButton.shape).filter((key) => !(key in buttonInput))
export type ButtonChange = {
  [K in keyof typeof buttonInput]?: z.infer<(typeof buttonInput)[K]> | undefined
}

export const buttonWords = {
  message: {
    en: 'Hi! I need help with {{pageTitle}}',
    'pt-BR': 'Olá! Preciso de ajuda com {{pageTitle}}',
    es: '¡Hola! Necesito ayuda con {{pageTitle}}',
  },
} satisfies Words<ButtonContent>

export const defaultButton: ButtonContent = {
  isEnabled: false,
  phone: null,
  ...getEnglishTexts(buttonWords),
  label: null,
  tooltip: null,
  tooltipDelaySeconds: 3,
  position: 'bottom-right',
  offsetX: 20,
  offsetY: 20,
  mobileOffsetY: 80,
  size: 56,
  backgroundColor: '#15803d',
  iconColor: '#ffffff',
  devices: 'all',
  pageMode: 'all',
  pagePatterns: [],
  attendants: [],
  schedule: { isEnabled: false, hours: [], outside: 'hide', outsideMessage: null },
}
