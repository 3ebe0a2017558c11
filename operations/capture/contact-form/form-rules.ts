/** The contact form: its defaults, what it is after a change, and what it must be. No database. */

import { refuse } from '#runtime/errors'
import { merged } from '#runtime/values/changes'
import { emailKey } from '#runtime/values/email'
import { english, said, type Words } from '#runtime/values/wording'
import type { FormField, FormInput, FormSettings } from './form-schema.ts'

const labels = new Map([
  ['name', { en: 'Name', 'pt-BR': 'Nome', es: 'Nombre' }],
  ['email', { en: 'Email', 'pt-BR': 'E-mail', es: 'Correo electrónico' }],
  ['phone', { en: 'Phone', 'pt-BR': 'Telefone', es: 'Teléfono' }],
  ['message', { en: 'Message', 'pt-BR': 'Mensagem', es: 'Mensaje' }],
])
export const formWords = {
  title: { en: 'Contact us', 'pt-BR': 'Fale conosco', es: 'Contáctanos' },
  description: {
    en: 'We answer within one working day.',
    'pt-BR': 'Respondemos em até um dia útil.',
    es: 'Respondemos en un día hábil.',
  },
  fields: ({ key }: FormField) => {
    const label = labels.get(key)
    return label && { label }
  },
  buttonText: { en: 'Send', 'pt-BR': 'Enviar', es: 'Enviar' },
  successMessage: {
    en: 'Thank you! We will be in touch.',
    'pt-BR': 'Obrigado! Entraremos em contato.',
    es: '¡Gracias! Nos pondremos en contacto.',
  },
  errorMessage: {
    en: 'Something went wrong. Please try again.',
    'pt-BR': 'Algo deu errado. Tente novamente.',
    es: 'Algo salió mal. Inténtalo de nuevo.',
  },
  consentText: {
    en: 'I agree to receive news and offers from this store.',
    'pt-BR': 'Concordo em receber novidades e ofertas desta loja.',
    es: 'Acepto recibir novedades y ofertas de esta tienda.',
  },
} satisfies Words<FormSettings>

const field = (key: string, type: FormField['type'], required: boolean): FormField => ({
  key,
  label: labels.get(key)!.en,
  type,
  required,
  placeholder: null,
  options: null,
})

export const defaultForm: FormSettings = {
  isEnabled: false,
  ...english(formWords),
  placement: 'floating',
  position: 'bottom-right',
  fields: [
    field('name', 'text', true),
    field('email', 'email', true),
    field('phone', 'phone', false),
    field('message', 'textarea', true),
  ],
  consentRequired: false,
  design: {
    buttonColor: '#111827',
    buttonTextColor: '#ffffff',
    backgroundColor: '#ffffff',
    textColor: '#1f2937',
    borderRadius: 8,
  },
  notifyEmails: [],
  crmListId: null,
  subscribeToNewsletter: false,
}

/**
 * What the box says, of settings as shoppers have them: nothing where a tick would mean nothing, something wherever one is needed. A text of the merchant's
 * own is always asked.
 */
export function consentAsked(
  { consentRequired, subscribeToNewsletter, consentText }: FormSettings,
  locale: string,
): string {
  const usual = said(formWords.consentText, locale)
  if (consentRequired || subscribeToNewsletter) return consentText || usual
  return consentText === usual ? '' : consentText
}

/** Keys that fill a submission's own fields, and the types they must have. */
const ownTypes = new Map<string, FormField['type']>([
  ['name', 'text'],
  ['email', 'email'],
  ['phone', 'phone'],
  ['message', 'textarea'],
])
export const isOwnKey = (key: string): boolean => ownTypes.has(key)

/** The form after a change: fields left out keep their value; the list of its fields is replaced whole. */
export function changedForm(before: FormSettings, { fields, ...change }: FormInput): FormSettings {
  const after = merged<FormSettings>(before, change as never)
  return {
    ...after,
    notifyEmails: distinct(after.notifyEmails),
    fields: fields
      ? fields.map(({ key, label, type, required, placeholder, options }) => ({
          key,
          label,
          type,
          required: required ?? false,
          placeholder: placeholder ?? null,
          options: options ?? null,
        }))
      : before.fields,
  }
}

/** Each address once, as it was first written. */
const distinct = (emails: readonly string[]): string[] =>
  [...new Map(emails.toReversed().map((email) => [emailKey(email), email])).values()].toReversed()

/** Refuses a form that cannot be. */
export function refuseFormFaults({ fields, isEnabled }: FormSettings): void {
  const faults: string[] = []
  const keys = new Set<string>()
  for (const [i, { key, type, options }] of fields.entries()) {
    if (keys.has(key)) faults.push(`fields.${i}.key: ${key} is used twice`)
    keys.add(key)
    const ownType = ownTypes.get(key)
    if (ownType && type !== ownType) faults.push(`fields.${i}.type: of the key ${key} must be ${ownType}`)
    if (type === 'select' && !options) faults.push(`fields.${i}.options: a select needs options`)
    if (type !== 'select' && options) faults.push(`fields.${i}.options: must be null but for a select`)
    if (options && new Set(options).size < options.length) {
      faults.push(`fields.${i}.options: must not name an option twice`)
    }
  }
  if (isEnabled && !fields.some(({ type }) => type === 'email' || type === 'phone')) {
    faults.push('fields: at least one must be of type email or phone')
  }
  if (faults.length > 0) throw refuse('bad_request', faults.slice(0, 5).join('; '))
}
