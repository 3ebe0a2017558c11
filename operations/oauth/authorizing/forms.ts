/** The pages on which a merchant connects an assistant: plain HTML, no script. */
import type { SystemContext } from '#runtime/context'
import type { PageRequest } from '#runtime/page'
import type { Scope } from '#runtime/roles'
import { answerHtml, escapeHtml } from '#runtime/values/html'
import { renderText } from '#runtime/values/variables'
import { getLangAttribute, getText, getTexts } from '#runtime/values/wording'
import { buildFormAction, describeRedirect } from '../clients/redirects.ts'
import { type AuthorizationRequest, type PageError, sealRequest } from './authorization-request.ts'
import { type Decision, type KeyRefusal, listGrantableScopes, sealShownKey } from './consent.ts'
import { pageWords } from './texts.ts'

/** The lifetimes of a grant to choose from, in days. */
export const grantDays = [30, 90, 365] as const
const defaultDays = 90

const moreStyle =
  'fieldset{border:1px solid #6b7280;border-radius:.4rem;margin:1rem 0;padding:.3rem 1rem 1rem}' +
  'fieldset label{margin:.7rem 0 0;display:flex;gap:.6rem}fieldset input{flex:none;margin:.3rem 0}' +
  'fieldset mark{background:#dbeafe;color:#1e3a8a;border-radius:.3rem;padding:0 .4rem;white-space:nowrap}fieldset mark.kept{background:#e5e7eb;color:#1f2937}' +
  '.hint{color:#4b5563}.fault{color:#b91c1c;font-weight:600}' +
  '.row{display:flex;flex-wrap:wrap;gap:.8rem}.other{background:#fff;color:#1f2937;border:1px solid #6b7280}'

const fillText = (text: string, values: Record<string, string>): string =>
  escapeHtml(renderText(text, values).text)

/** The browser's locale, used while the store, which has its own, is unknown. */
export const getLocale = (request: PageRequest): string =>
  /^\s*(?<tag>[a-z]{2,3}(?:-[a-z0-9]{2,8})*)/i.exec(request.header('accept-language') ?? '')?.groups?.tag ??
  'en'

/** Renders the form for the key. `fault`: why the last key was refused. `minutes`: the time until the next attempt. */
export function renderKeyForm(
  ctx: SystemContext,
  asked: AuthorizationRequest,
  locale: string,
  fault: KeyRefusal | 'too-often' | null = null,
  minutes = 0,
): Response {
  const words = getTexts(pageWords, locale)
  const { name: client, document } = asked
  const place = describeRedirect(asked.redirectUri)
  const refusalHtml =
    fault === null
      ? ''
      : `<p id="fault" class="fault" role="alert">${fillText(words.faults[fault], { minutes: String(minutes) })}</p>`
  const invalid = fault === null ? '' : ' aria-invalid="true" autofocus'
  const body =
    `<p>${fillText(words.asks, { client })} ` +
    `${place === null ? escapeHtml(words.leadsHere) : fillText(words.leadsTo, { place })} ` +
    `${document === null ? '' : fillText(words.vouched, { document })}</p>` +
    `<p class="hint">${escapeHtml(words.beware)}</p>${refusalHtml}` +
    `<form method="post" action="authorize"><input type="hidden" name="request" value="${sealRequest(ctx, asked)}">` +
    `<label for="key">${escapeHtml(words.key)}</label>` +
    `<input id="key" name="key" type="password" required maxlength="200" autocomplete="off" spellcheck="false"` +
    ` aria-describedby="${fault === null ? 'hint' : 'fault hint'}"${invalid}>` +
    `<p id="hint" class="hint">${escapeHtml(words.keyHint)}</p>` +
    buttons(words.goOn, words.cancel) +
    '</form>'
  const status = fault === null ? 200 : fault === 'too-often' ? 429 : 400
  return answer(renderText(words.connect, { client }).text, body, status, asked, locale)
}

/**
 * Renders the form to choose the granted scopes. Those that the client already has are preselected and marked, and new
 * ones are marked as such. `picked`: an insufficient choice, which is shown again.
 */
export function renderConsentForm(
  ctx: SystemContext,
  { shown, parent, granted }: Decision,
  picked: readonly Scope[] | null = null,
): Response {
  const { locale, storeName: store } = parent
  const words = getTexts(pageWords, locale)
  const { asked } = shown
  const grantable = listGrantableScopes(asked, parent)
  const chosen = picked ?? ['platform:read', ...granted]
  const mark = (scope: Scope): string => {
    if (granted.size === 0) return ''
    return granted.has(scope)
      ? ` <mark class="kept">${escapeHtml(words.kept)}</mark>`
      : ` <mark>${escapeHtml(words.added)}</mark>`
  }
  const more = grantable.every((scope) => granted.has(scope)) ? '' : ` ${escapeHtml(words.tick)}`
  const scopes = grantable.map(
    (scope) =>
      `<label><input type="checkbox" name="${scope}" value="on"${chosen.includes(scope) ? ' checked' : ''}>` +
      `<span>${escapeHtml(words.scopes[scope])} <code>${scope}</code>${mark(scope)}</span></label>`,
  )
  // Says why the assistant keeps asking: otherwise nobody would know that another key is needed.
  const lacking = granted.size > 0 ? asked.scopes.filter((scope) => !parent.scopes.includes(scope)) : []
  const terms = grantDays.map(
    (days) =>
      `<option value="${days}"${days === defaultDays ? ' selected' : ''}>` +
      `${fillText(words.days, { days: String(days) })}</option>`,
  )
  const body =
    (granted.size === 0 ? '' : `<p>${fillText(words.connected, { client: asked.name, store })}${more}</p>`) +
    (picked === null ? '' : `<p class="fault" role="alert">${escapeHtml(words.pick)}</p>`) +
    `<form method="post" action="consent"><input type="hidden" name="consent" value="${sealShownKey(ctx, shown)}">` +
    `<fieldset><legend>${escapeHtml(words.rights)}</legend>${scopes.join('')}</fieldset>` +
    (lacking.length === 0
      ? ''
      : `<p class="hint">${fillText(words.lacking, { scopes: lacking.join(', ') })}</p>`) +
    `<label for="days">${escapeHtml(words.howLong)}</label>` +
    `<select id="days" name="days" aria-describedby="ends">${terms.join('')}</select>` +
    `<p id="ends" class="hint">${escapeHtml(words.endsWith)}</p>` +
    buttons(words.yes, words.no) +
    '</form>'
  const title = renderText(words.allow, { client: asked.name, store }).text
  return answer(title, body, picked === null ? 200 : 400, asked, locale)
}

/** The page of a `PageError`. */
export function renderErrorPage(astray: PageError, locale: string, status = 400): Response {
  const body =
    `<p role="alert">${escapeHtml(getText(astray.wording, locale))}</p>` +
    `<p class="hint"><code>${escapeHtml(astray.message)}</code></p>`
  return answer(getText(pageWords.astray, locale), body, status, null, locale)
}

const buttons = (yes: string, no: string): string =>
  `<div class="row"><button name="decision" value="yes">${escapeHtml(yes)}</button>` +
  `<button name="decision" value="no" class="other" formnovalidate>${escapeHtml(no)}</button></div>`

function answer(
  title: string,
  body: string,
  status: number,
  asked: AuthorizationRequest | null,
  locale: string,
): Response {
  const target = asked ? buildFormAction(asked.redirectUri) : ''
  const page = answerHtml(title, body, status, {
    moreStyle,
    formTarget: target,
    lang: getLangAttribute(locale),
  })
  // With `no-referrer`, browsers send the form with `Origin: null`, so `requireSameOrigin` would refuse it.
  page.headers.set('referrer-policy', 'same-origin')
  return page
}
