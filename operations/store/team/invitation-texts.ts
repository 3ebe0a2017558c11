/** The texts of an invitation's email, and of the page that its link opens, in the store's language. */
import { DateTime } from 'luxon'
import { FormRenderer } from '#runtime/values/form-renderer'
import { answerHtml, escapeHtml } from '#runtime/values/html'
import { renderText } from '#runtime/values/variables'
import { getLangAttribute, getTexts } from '#runtime/values/wording'
import type { MemberRole } from '../enums.ts'
import type { Invitation } from './acceptance.ts'

const pageWords = {
  join: {
    en: 'Join the team of {{store}}',
    'pt-BR': 'Entre para a equipe de {{store}}',
    es: 'Únete al equipo de {{store}}',
  },
  as: {
    owner: { en: 'as owner', 'pt-BR': 'como dono', es: 'como propietario' },
    member: { en: 'as member', 'pt-BR': 'como membro', es: 'como miembro' },
    agent: { en: 'as agent', 'pt-BR': 'como atendente', es: 'como agente' },
  },
  invites: {
    en: '{{inviter}} invites {{email}}, {{role}}.',
    'pt-BR': '{{inviter}} convida {{email}}, {{role}}.',
    es: '{{inviter}} invita a {{email}}, {{role}}.',
  },
  name: { en: 'Your name', 'pt-BR': 'Seu nome', es: 'Tu nombre' },
  wrong: {
    en: 'Type your name, in at most 120 characters.',
    'pt-BR': 'Escreva seu nome, com até 120 caracteres.',
    es: 'Escribe tu nombre, con un máximo de 120 caracteres.',
  },
  known: {
    en: 'You are known here as {{name}}.',
    'pt-BR': 'Você já é conhecido aqui como {{name}}.',
    es: 'Aquí ya te conocemos como {{name}}.',
  },
  accept: { en: 'Accept the invitation', 'pt-BR': 'Aceitar o convite', es: 'Aceptar la invitación' },
  welcome: {
    en: 'Welcome to the team',
    'pt-BR': 'Boas-vindas à equipe',
    es: 'Te damos la bienvenida al equipo',
  },
  joined: {
    en: '{{email}} is now in the team of {{store}}, {{role}}.',
    'pt-BR': '{{email}} agora está na equipe de {{store}}, {{role}}.',
    es: '{{email}} ahora está en el equipo de {{store}}, {{role}}.',
  },
  dead: {
    en: 'This invitation is no longer open',
    'pt-BR': 'Este convite não está mais aberto',
    es: 'Esta invitación ya no está abierta',
  },
  whyDead: {
    en: 'It was accepted or revoked, or has expired. Ask for a new one.',
    'pt-BR': 'Ele foi aceito ou revogado, ou expirou. Peça outro.',
    es: 'Se aceptó o se revocó, o ha caducado. Pide otra.',
  },
}

const mailWords = {
  join: pageWords.join,
  as: pageWords.as,
  accept: pageWords.accept,
  invites: {
    en: '{{inviter}} invites you to the team of {{store}}, {{role}}.',
    'pt-BR': '{{inviter}} convida você para a equipe de {{store}}, {{role}}.',
    es: '{{inviter}} te invita al equipo de {{store}}, {{role}}.',
  },
  here: { en: 'Accept here', 'pt-BR': 'Aceite aqui', es: 'Acéptala aquí' },
  holds: {
    en: 'The link holds until {{until}}. If you did not expect it, leave it alone.',
    'pt-BR': 'O link vale até {{until}}. Se você não o esperava, ignore este e-mail.',
    es: 'El enlace es válido hasta el {{until}}. Si no lo esperabas, no hagas nada.',
  },
}

const fillIn = (text: string, values: Record<string, string>): string => renderText(text, values).text

export function buildInvitationMail(given: {
  storeName: string
  inviterName: string
  role: MemberRole
  link: string
  expiresAt: Date
  timezone: string
  locale: string
}): { subject: string; text: string; html: string } {
  const { storeName: store, inviterName: inviter, role, link, timezone, locale } = given
  const words = getTexts(mailWords, locale)
  const at = DateTime.fromJSDate(given.expiresAt, { zone: timezone }).setLocale(locale)
  const invites = fillIn(words.invites, { inviter, store, role: words.as[role] })
  const holds = fillIn(words.holds, { until: at.toLocaleString(DateTime.DATETIME_FULL) })
  return {
    subject: fillIn(words.join, { store }).replace(/[\r\n]+/g, ' '),
    text: `${invites}\n\n${words.here}:\n${link}\n\n${holds}\n`,
    html:
      `<p>${escapeHtml(invites)}</p><p><a href="${escapeHtml(link)}">${escapeHtml(words.accept)}</a></p>` +
      `<p>${escapeHtml(holds)}</p>`,
  }
}

/** The form to accept an invitation. An existing user only confirms. `typed`: a typed name that was rejected. */
export function renderInvitationForm(invitation: Invitation, typed: string | null = null): Response {
  const { storeName: store, inviterName: inviter, role, email, knownName, locale } = invitation
  const words = getTexts(pageWords, locale)
  const fault = { field: 'name', text: words.wrong, standalone: words.wrong }
  const form = new FormRenderer(
    typed === null ? null : { address: '', fields: { name: typed }, issues: [fault], locale },
  )
  const content =
    knownName === null
      ? form.input({
          name: 'name',
          label: words.name,
          attributes: 'required maxlength="120" autocomplete="name"',
        })
      : `<p>${escapeHtml(fillIn(words.known, { name: knownName }))}</p>`
  return answerHtml(
    fillIn(words.join, { store }),
    `<p>${escapeHtml(fillIn(words.invites, { inviter, email, role: words.as[role] }))}</p>` +
      form.form('', `${content}<button>${escapeHtml(words.accept)}</button>`),
    typed === null ? 200 : 400,
    { lang: getLangAttribute(locale) },
  )
}

export function acceptedPage({ storeName: store, email, role, locale }: Invitation): Response {
  const words = getTexts(pageWords, locale)
  const text = fillIn(words.joined, { email, store, role: words.as[role] })
  return answerHtml(words.welcome, `<p>${escapeHtml(text)}</p>`, 200, { lang: getLangAttribute(locale) })
}

export function closedPage({ locale }: Invitation): Response {
  const { dead, whyDead } = getTexts(pageWords, locale)
  return answerHtml(dead, `<p>${escapeHtml(whyDead)}</p>`, 410, { lang: getLangAttribute(locale) })
}

/** The page for an unknown token. It is in English, because the store and so its language are unknown. */
export const unknownPage = (): Response =>
  answerHtml(
    'There is no such invitation',
    '<p>Look whether the link is complete, or ask for a new one.</p>',
    404,
  )
