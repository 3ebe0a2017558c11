/** Rules of the contact form's settings: defaults, merge and validation. No database access. */

import { refuse } from '#runtime/errors'
import { mergeChange } from '#runtime/values/changes'
import { hasVisible } from '#runtime/values/confusables'
import { emailKey } from '#runtime/values/email'
import { findRepeated } from '#runtime/values/fold'
import { getEnglishTexts, getText, type Words } from '#runtime/values/wording'
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
  ...getEnglishTexts(formWords),
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
 * The text of the consent box, for settings in the shopper's language. A merchant's own text is always shown. Without
 * one, the default text is shown if the form requires consent or subscribes its sender; otherwise the result is empty
 * and there is no box.
 */
export function getConsentText(
  { consentRequired, subscribeToNewsletter, consentText }: FormSettings,
  locale: string,
): string {
  const usual = getText(formWords.consentText, locale)
  if (!hasVisible(consentText)) return consentRequired || subscribeToNewsletter ? usual : ''
  if (consentRequired || subscribeToNewsletter) return consentText
  return consentText === usual ? '' : consentText
}

/** Field keys whose values are stored in columns of the submission, with the type that each key requires. */
const ownTypes = new Map<string, FormField['type']>([
  ['name', 'text'],
  ['email', 'email'],
  ['phone', 'phone'],
  ['message', 'textarea'],
])
export const isOwnKey = (key: string): boolean => ownTypes.has(key)

/** Merges a change. Settings left out keep their value; the list `fields` is replaced as a whole. */
export function applyFormChange(before: FormSettings, { fields, ...change }: FormInput): FormSettings {
  const after = mergeChange<FormSettings>(before, change as never)
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

/** Removes duplicate addresses and keeps the first spelling of each. */
const distinct = (emails: readonly string[]): string[] =>
  [...new Map(emails.toReversed().map((email) => [emailKey(email), email])).values()].toReversed()

/** Refuses invalid settings (400). */
export function refuseInvalidForm({ fields, isEnabled }: FormSettings): void {
  const issues: string[] = []
  const keys = new Set<string>()
  for (const [i, { key, type, options }] of fields.entries()) {
    if (keys.has(key)) issues.push(`fields.${i}.key: ${key} is used twice`)
    keys.add(key)
    const ownType = ownTypes.get(key)
    if (ownType && type !== ownType) issues.push(`fields.${i}.type: of the key ${key} must be ${ownType}`)
    if (type === 'select' && !options) issues.push(`fields.${i}.options: a select needs options`)
    if (type !== 'select' && options) issues.push(`fields.${i}.options: must be null but for a select`)
    if (options && findRepeated(options) >= 0) {
      issues.push(`fields.${i}.options: must not name an option twice`)
    }
  }
  if (isEnabled && !fields.some(({ type }) => type === 'email' || type === 'phone')) {
    issues.push('fields: at least one must be of type email or phone')
  }
  if (issues.length > 0) throw refuse('bad_request', issues.slice(0, 5).join('; '))
}
