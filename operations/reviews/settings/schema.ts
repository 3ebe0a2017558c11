import { graphicColourOn, textColourOn } from '#runtime/contrast'
import { reference } from '#runtime/references'
import { colour, email, instant, named, object, setOf, writeBody, z } from '#runtime/schema'
import { getEnglishTexts, type Words } from '#runtime/values/wording'
import { optionalText, pictureUrl, plainText, rating, timeOfDay, withVariables } from '../common-schema.ts'

const requestVariables = [
  'customerName',
  'firstName',
  'productName',
  'orderNumber',
  'storeName',
  'reviewUrl',
] as const

const texts = (schema: z.ZodTypeAny): z.ZodType<string> => withVariables(schema, requestVariables)
const days = (min: number, max: number) => z.number().int().min(min).max(max)

const request = {
  isEnabled: z.boolean(),
  trigger: z.enum(['paid', 'shipped', 'delivered']).describe('The event that starts the delay'),
  delayDays: days(0, 60),
  sendTime: timeOfDay.describe(
    "In the store's time zone; if clocks skip it, right after; if they repeat it, the first",
  ),
  channel: z.enum(['email', 'messaging', 'messaging-or-email']),
  maxItemsPerOrder: z.number().int().min(1).max(20).describe('The dearest ones'),
}
const reminder = {
  isEnabled: z.boolean(),
  delayDays: days(1, 30),
  maxReminders: z.number().int().min(1).max(3),
}
const autoPublish = {
  mode: z.enum(['none', 'all', 'rating']),
  minRating: rating.describe('Used by the mode rating'),
  verifiedOnly: z.boolean(),
  holdImages: z.boolean().describe('A review with images waits'),
  blockedWords: setOf(plainText(1, 60), 100).describe(
    'Whole words, without case or accents: a review with one of them waits',
  ),
}
const form = {
  allowImages: z.boolean(),
  maxImages: z.number().int().min(1).max(10),
  requireText: z.boolean(),
  allowWithoutPurchase: z.boolean().describe('Off: only through the link of a request'),
}
const mail = {
  subject: texts(plainText(1, 200)),
  logoUrl: pictureUrl,
  replyTo: z.union([email, z.literal('')]).nullable(),
  title: texts(plainText(1, 200)),
  buttonText: texts(plainText(1, 60)),
  body: texts(plainText(1, 5000)),
  footerText: withVariables(optionalText(2000), requestVariables) as z.ZodType<string | null>,
  accentColor: textColourOn('#ffffff', colour.describe('Background of the button, whose text is white')),
}
const message = {
  text: texts(plainText(1, 4096)).describe('Must contain {{reviewUrl}}'),
  officialapiTemplateId: reference('template', z.number().int().positive().max(Number.MAX_SAFE_INTEGER))
    .nullable()
    .describe('Used when the connection is official'),
}
export const sorts = ['featured', 'newest', 'highest', 'lowest'] as const
const widget = {
  layout: z.enum(['list', 'grid', 'carousel']),
  title: optionalText(120),
  starColor: graphicColourOn('backgroundColor'),
  textColor: textColourOn('backgroundColor'),
  backgroundColor: colour,
  buttonColor: colour,
  perPage: z.number().int().min(1).max(50),
  sort: z.enum(sorts).describe('featured: those first, then newest'),
  nameFormat: z.enum(['full', 'first-initial', 'initials']),
  showVerifiedBadge: z.boolean(),
  showDate: z.boolean(),
  showImages: z.boolean(),
  showStarsInProductList: z.boolean(),
}

const parts = {
  isEnabled: z.boolean().describe('The widget is shown and requests are planned'),
  request: object(request),
  reminder: object(reminder),
  autoPublish: object(autoPublish),
  form: object(form),
  email: object(mail),
  message: object(message),
  widget: object(widget),
}
const content = object(parts)
export type ReviewSettings = z.infer<typeof content>

export const reviewSettings = named(
  'ReviewSettings',
  object({ ...parts, updatedAt: instant.nullable().describe('Null: never saved') }),
)
export const reviewSettingsInput = writeBody(
  {
    isEnabled: parts.isEnabled,
    request: writeBody(request, []),
    reminder: writeBody(reminder, []),
    autoPublish: writeBody(autoPublish, []),
    form: writeBody(form, []),
    email: writeBody(mail, []),
    message: writeBody(message, []),
    widget: writeBody(widget, []),
  },
  ['updatedAt'],
)

export const reviewWords = {
  email: {
    subject: {
      en: 'How was your {{productName}}?',
      'pt-BR': 'O que você achou de {{productName}}?',
      es: '¿Qué te pareció {{productName}}?',
    },
    title: {
      en: 'Tell us what you think',
      'pt-BR': 'Conte o que você achou',
      es: 'Cuéntanos qué te pareció',
    },
    buttonText: { en: 'Write a review', 'pt-BR': 'Escrever uma avaliação', es: 'Escribir una opinión' },
    body: {
      en: 'Hi {{firstName}}, your opinion helps other customers.',
      'pt-BR': 'Olá {{firstName}}, sua opinião ajuda outros clientes.',
      es: 'Hola {{firstName}}, tu opinión ayuda a otros clientes.',
    },
  },
  message: {
    text: {
      en: 'Hi {{firstName}}! How was your {{productName}}? {{reviewUrl}}',
      'pt-BR': 'Olá {{firstName}}! O que você achou de {{productName}}? {{reviewUrl}}',
      es: '¡Hola {{firstName}}! ¿Qué te pareció {{productName}}? {{reviewUrl}}',
    },
  },
  widget: {
    title: { en: 'Customer reviews', 'pt-BR': 'Avaliações de clientes', es: 'Opiniones de clientes' },
  },
} satisfies Words<ReviewSettings>

export const defaultReviewSettings: ReviewSettings = {
  isEnabled: false,
  request: {
    isEnabled: true,
    trigger: 'delivered',
    delayDays: 7,
    sendTime: '10:00',
    channel: 'email',
    maxItemsPerOrder: 5,
  },
  reminder: { isEnabled: false, delayDays: 5, maxReminders: 1 },
  autoPublish: { mode: 'none', minRating: 4, verifiedOnly: true, holdImages: true, blockedWords: [] },
  form: { allowImages: true, maxImages: 5, requireText: false, allowWithoutPurchase: true },
  email: {
    ...getEnglishTexts(reviewWords).email,
    logoUrl: null,
    replyTo: null,
    footerText: null,
    accentColor: '#111827',
  },
  message: {
    ...getEnglishTexts(reviewWords).message,
    officialapiTemplateId: null,
  },
  widget: {
    layout: 'list',
    ...getEnglishTexts(reviewWords).widget,
    starColor: '#d97706',
    textColor: '#111827',
    backgroundColor: '#ffffff',
    buttonColor: '#111827',
    perPage: 10,
    sort: 'featured',
    nameFormat: 'first-initial',
    showVerifiedBadge: true,
    showDate: true,
    showImages: true,
    showStarsInProductList: true,
  },
}
