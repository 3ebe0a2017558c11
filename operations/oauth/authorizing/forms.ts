/** The pages on which a merchant connects an assistant: plain HTML, no script. */
import type { childKeys } from '#operations/store/door'
import type { SystemContext } from '#runtime/context'
import type { PageRequest } from '#runtime/page'
import type { Scope } from '#runtime/roles'
import { escaped, htmlAnswer } from '#runtime/values/html'
import { renderText } from '#runtime/values/variables'
import { langOf, said, spoken } from '#runtime/values/wording'
import { formTarget, placeOf } from '../clients/redirects.ts'
import { type Asked, type Astray, sealedAsked } from './asked.ts'
import { type Fault, grantable, type Shown, sealedShown } from './consent.ts'
import { pageWords } from './texts.ts'

/** For how many days a key may be granted. */
export const termsInDays = [30, 90, 365] as const
const usualDays = 90

const moreStyle =
  'fieldset{border:1px solid #6b7280;border-radius:.4rem;margin:1rem 0;padding:.3rem 1rem 1rem}' +
  'fieldset label{margin:.7rem 0 0;display:flex;gap:.6rem}fieldset input{flex:none;margin:.3rem 0}' +
  '.hint{color:#4b5563}.fault{color:#b91c1c;font-weight:600}' +
  '.row{display:flex;flex-wrap:wrap;gap:.8rem}.other{background:#fff;color:#1f2937;border:1px solid #6b7280}'

const filled = (text: string, values: Record<string, string>): string =>
  escaped(renderText(text, values).text)

/** What the browser of somebody who is not known yet would like to read. */
export const localeOf = (request: PageRequest): string =>
  /^\s*(?<tag>[a-z]{2,3}(?:-[a-z0-9]{2,8})*)/i.exec(request.header('accept-language') ?? '')?.groups?.tag ??
  'en'

/** Asks for the key. `fault`: why the one before was not taken; `minutes` until another may be tried. */
export function keyForm(
  ctx: SystemContext,
  asked: Asked,
  locale: string,
  fault: Fault | 'too-often' | null = null,
  minutes = 0,
): Response {
  const words = spoken(pageWords, locale)
  const { name: client, document } = asked
  const place = placeOf(asked.redirectUri)
  const told =
    fault === null
      ? ''
      : `<p id="fault" class="fault" role="alert">${filled(words.faults[fault], { minutes: String(minutes) })}</p>`
  const invalid = fault === null ? '' : ' aria-invalid="true" autofocus'
  const body =
    `<p>${filled(words.asks, { client })} ` +
    `${place === null ? escaped(words.leadsHere) : filled(words.leadsTo, { place })} ` +
    `${document === null ? '' : filled(words.vouched, { document })}</p>` +
    `<p class="hint">${escaped(words.beware)}</p>${told}` +
    `<form method="post" action="authorize"><input type="hidden" name="request" value="${sealedAsked(ctx, asked)}">` +
    `<label for="key">${escaped(words.key)}</label>` +
    `<input id="key" name="key" type="password" required maxlength="200" autocomplete="off" spellcheck="false"` +
    ` aria-describedby="${fault === null ? 'hint' : 'fault hint'}"${invalid}>` +
    `<p id="hint" class="hint">${escaped(words.keyHint)}</p>` +
    buttons(words.goOn, words.cancel) +
    '</form>'
  const status = fault === null ? 200 : fault === 'too-often' ? 429 : 400
  return answer(renderText(words.connect, { client }).text, body, status, asked, locale)
}

/** Asks what is granted, of what the key may pass on. `picked`: what was chosen, where that is not enough. */
export function consentForm(
  ctx: SystemContext,
  shown: Shown,
  parent: childKeys.Living,
  picked: readonly Scope[] | null = null,
): Response {
  const { locale, storeName: store } = parent
  const words = spoken(pageWords, locale)
  const { asked } = shown
  const chosen = picked ?? ['platform:read']
  const scopes = grantable(asked, parent).map(
    (scope) =>
      `<label><input type="checkbox" name="${scope}" value="on"${chosen.includes(scope) ? ' checked' : ''}>` +
      `<span>${escaped(words.scopes[scope])} <code>${scope}</code></span></label>`,
  )
  const terms = termsInDays.map(
    (days) =>
      `<option value="${days}"${days === usualDays ? ' selected' : ''}>` +
      `${filled(words.days, { days: String(days) })}</option>`,
  )
  const body =
    (picked === null ? '' : `<p class="fault" role="alert">${escaped(words.pick)}</p>`) +
    `<form method="post" action="consent"><input type="hidden" name="consent" value="${sealedShown(ctx, shown)}">` +
    `<fieldset><legend>${escaped(words.rights)}</legend>${scopes.join('')}</fieldset>` +
    `<label for="days">${escaped(words.howLong)}</label>` +
    `<select id="days" name="days" aria-describedby="ends">${terms.join('')}</select>` +
    `<p id="ends" class="hint">${escaped(words.endsWith)}</p>` +
    buttons(words.yes, words.no) +
    '</form>'
  const title = renderText(words.allow, { client: asked.name, store }).text
  return answer(title, body, picked === null ? 200 : 400, asked, locale)
}

/** What nobody can be sent back for. */
export function astrayPage(astray: Astray, locale: string, status = 400): Response {
  const body =
    `<p role="alert">${escaped(said(astray.wording, locale))}</p>` +
    `<p class="hint"><code>${escaped(astray.message)}</code></p>`
  return answer(said(pageWords.astray, locale), body, status, null, locale)
}

const buttons = (yes: string, no: string): string =>
  `<div class="row"><button name="decision" value="yes">${escaped(yes)}</button>` +
  `<button name="decision" value="no" class="other" formnovalidate>${escaped(no)}</button></div>`

function answer(title: string, body: string, status: number, asked: Asked | null, locale: string): Response {
  const target = asked ? formTarget(asked.redirectUri) : ''
  const page = htmlAnswer(title, body, status, { moreStyle, formTarget: target, lang: langOf(locale) })
  // A form of a page that tells no referrer says `Origin: null`, by which ours would not be known from a foreign one.
  page.headers.set('referrer-policy', 'same-origin')
  return page
}
