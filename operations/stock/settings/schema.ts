import { textColourOn } from '#runtime/contrast'
import { reference } from '#runtime/references'
import { instant, keepEmpty, named, object, z } from '#runtime/schema'
import { getEnglishTexts, type Words } from '#runtime/values/wording'

/** A text that is stored exactly as sent: neither trimmed nor checked for variables. */
const plainText = (max: number) => z.string().trim().max(max, `must have at most ${max} characters`)
const optionalText = plainText(5000).nullable()
const shownText = named(
  'StockAlertText',
  optionalText.describe('Null: the built-in text. Empty: nothing is shown'),
)

const templateEmail = {
  subject: plainText(500),
  logo: reference('file', plainText(2000)).describe(
    'Address of a picture (https); anything else is left out of the email',
  ),
  mainTitle: plainText(500),
  greeting: plainText(1000),
  mainContent: plainText(5000),
  buttonText: plainText(200),
  footerText: plainText(5000),
}

const switches = {
  isEnabled: z.boolean(),
  ignoreStockThreshold: z
    .boolean()
    .describe('Notify everybody from one unit on, instead of twice the stock from three'),
  isMailproviderEnabled: z
    .boolean()
    .nullable()
    .describe('Adds shoppers who leave an email to the list of the connected email provider'),
  allowEmails: z.boolean(),
  allowPhones: z.boolean(),
}

const messaging = {
  templateMessaging: plainText(5000).describe('Sent where the connection is not official'),
  officialapiTemplateId: reference('template', z.number().int().min(1).max(Number.MAX_SAFE_INTEGER))
    .nullable()
    .describe('Sent through an official number, once it is approved'),
  buttonShowInProductPage: z.boolean(),
  buttonShowInProductList: z.boolean(),
}

/** Names of the fields for the form's appearance and texts. Each is a text of at most 5000 characters, or null. */
export const appearanceFields = [
  'buttonFontColor',
  'buttonBackgroundColor',
  'buttonBorderColor',
  'buttonBorderRadius',
  'buttonInProductPageCSS',
  'buttonInProductListCSS',
  'notificationRequestMessage',
  'modalTitle',
  'modalDescription',
  'modalBorderRadius',
  'modalButtonColor',
  'modalButtonTextColor',
  'modalBackgroundColor',
  'modalTextColor',
  'modalSubmitButtonText',
  'emailInputPlaceholder',
  'phoneInputPlaceholder',
  'successMessage',
  'errorMessage',
  'alreadySubscribedMessage',
  'retryButtonText',
  'loadingButtonText',
  'invalidEmailMessage',
] as const
type AppearanceField = (typeof appearanceFields)[number]

/**
 * The background field of each text colour field, for the contrast check. Colours are free texts; only valid ones are
 * checked.
 */
const backgrounds: Partial<Record<AppearanceField, AppearanceField>> = {
  buttonFontColor: 'buttonBackgroundColor',
  modalButtonTextColor: 'modalButtonColor',
  modalTextColor: 'modalBackgroundColor',
}

const appearanceSchemas = Object.fromEntries(
  appearanceFields.map((name) => [
    name,
    keepEmpty(backgrounds[name] ? textColourOn(backgrounds[name], shownText) : shownText),
  ]),
) as unknown as Record<AppearanceField, typeof optionalText>

const content = object({
  ...switches,
  templateEmail: object(templateEmail),
  ...messaging,
  ...appearanceSchemas,
})
export type AlertContent = z.infer<typeof content>

export const stockAlertSettings = named(
  'StockAlertSettings',
  object({
    ...content.shape,
    webhookRegistered: z
      .boolean()
      .describe("Whether the platform reports stock through the store's connection"),
    webhookRegisteredAt: instant.nullable(),
    lastStockEventAt: instant.nullable().describe('When the platform last reported stock'),
    officialapiTemplateStatus: z
      .string()
      .nullable()
      .describe('Approval of the template; null when the store has no such template'),
    updatedAt: instant.nullable().describe('Null until first saved'),
  }),
  {
    volatileFields: [
      'webhookRegistered',
      'webhookRegisteredAt',
      'lastStockEventAt',
      'officialapiTemplateStatus',
    ],
  },
)

/** The fields of the request body. `templateEmail` may have only some of its texts. */
export const alertInput = { ...content.shape, templateEmail: object(templateEmail).partial().strict() }
export const alertReadOnly = Object.keys(stockAlertSettings.shape).filter((key) => !(key in alertInput))

export const alertWords = {
  templateEmail: {
    subject: {
      en: '{{productName}} is back in stock',
      'pt-BR': '{{productName}} está de volta ao estoque',
      es: '{{productName}} vuelve a estar disponible',
    },
    mainTitle: { en: "It's back!", 'pt-BR': 'Voltou!', es: '¡Ya está aquí!' },
    greeting: { en: 'Hi {{name}},', 'pt-BR': 'Olá {{name}},', es: 'Hola {{name}},' },
    mainContent: {
      en: '{{productName}} is available again at {{storeName}}.',
      'pt-BR': '{{productName}} está disponível de novo em {{storeName}}.',
      es: '{{productName}} vuelve a estar disponible en {{storeName}}.',
    },
    buttonText: { en: 'Buy now', 'pt-BR': 'Comprar agora', es: 'Comprar ahora' },
    footerText: {
      en: 'You asked us to tell you when this product came back.',
      'pt-BR': 'Você pediu para ser avisado quando este produto voltasse.',
      es: 'Nos pediste que te avisáramos cuando volviera este producto.',
    },
  },
  templateMessaging: {
    en: 'Hi {{name}}! {{productName}} is back in stock at {{storeName}}: {{productUrl}}',
    'pt-BR': 'Olá {{name}}! {{productName}} está de volta ao estoque em {{storeName}}: {{productUrl}}',
    es: '¡Hola {{name}}! {{productName}} vuelve a estar disponible en {{storeName}}: {{productUrl}}',
  },
  notificationRequestMessage: {
    en: 'Notify me when it is back',
    'pt-BR': 'Avise-me quando chegar',
    es: 'Avísame cuando vuelva',
  },
  modalTitle: {
    en: 'Tell me when it is back',
    'pt-BR': 'Avise-me quando voltar',
    es: 'Avísame cuando vuelva',
  },
  modalDescription: {
    en: 'Leave your contact and we will write to you once.',
    'pt-BR': 'Deixe seu contato e escreveremos uma única vez.',
    es: 'Deja tu contacto y te escribiremos una sola vez.',
  },
  modalSubmitButtonText: { en: 'Notify me', 'pt-BR': 'Avise-me', es: 'Avísame' },
  emailInputPlaceholder: { en: 'Your email', 'pt-BR': 'Seu e-mail', es: 'Tu correo' },
  phoneInputPlaceholder: { en: 'Your phone', 'pt-BR': 'Seu telefone', es: 'Tu teléfono' },
  successMessage: {
    en: 'Done! We will let you know.',
    'pt-BR': 'Pronto! Avisaremos você.',
    es: '¡Listo! Te avisaremos.',
  },
  errorMessage: { en: 'Something went wrong.', 'pt-BR': 'Algo deu errado.', es: 'Algo salió mal.' },
  alreadySubscribedMessage: {
    en: 'You are already on the list.',
    'pt-BR': 'Você já está na lista.',
    es: 'Ya estás en la lista.',
  },
  retryButtonText: { en: 'Try again', 'pt-BR': 'Tentar de novo', es: 'Intentar de nuevo' },
  loadingButtonText: { en: 'Sending…', 'pt-BR': 'Enviando…', es: 'Enviando…' },
  invalidEmailMessage: {
    en: 'Enter a valid email.',
    'pt-BR': 'Informe um e-mail válido.',
    es: 'Escribe un correo válido.',
  },
} satisfies Words<AlertContent>

const builtInTexts = getEnglishTexts(alertWords)

export const defaultAlerts: AlertContent = {
  isEnabled: false,
  ignoreStockThreshold: false,
  isMailproviderEnabled: null,
  allowEmails: true,
  allowPhones: true,
  ...builtInTexts,
  templateEmail: { ...builtInTexts.templateEmail, logo: '' },
  officialapiTemplateId: null,
  buttonShowInProductPage: true,
  buttonShowInProductList: false,
  buttonFontColor: '#ffffff',
  buttonBackgroundColor: '#111827',
  buttonBorderColor: '#111827',
  buttonBorderRadius: '6px',
  buttonInProductPageCSS: null,
  buttonInProductListCSS: null,
  modalBorderRadius: '8px',
  modalButtonColor: '#111827',
  modalButtonTextColor: '#ffffff',
  modalBackgroundColor: '#ffffff',
  modalTextColor: '#111827',
}
