/**
 * Who may play the world outside. The pages of the sandbox have no key: only programs of this machine may call them,
 * and no web page but its own. Without this any page that a developer opens could move the clock or read the mail.
 */

import { SettingsError } from '#db/settings-error'
import { type Refusal, refuse } from '#runtime/errors'
import type { Settings } from '#runtime/server/settings'

/** Whether only programs of this machine reach what listens there. */
function isLoopback(host: string): boolean {
  const name = host.replace(/^\[|\]$/g, '').toLowerCase()
  return (
    name === 'localhost' || name === '::1' || /^(::ffff:)?127(\.\d{1,3}){3}$/.test(name) || name === '127.1'
  )
}

/** Refuses to open the sandbox to a network, whatever else the environment says, unless somebody insists. */
export function refuseOpenSandbox({ sandbox, sandboxInsisted, host }: Settings): void {
  if (!sandbox || sandboxInsisted || isLoopback(host)) return
  throw new SettingsError(
    `SANDBOX: is on, and HOST ${host} is no loopback address: whoever reaches it could move the clock and read the ` +
      'mail. Set SANDBOX=off, or HOST=127.0.0.1, or SANDBOX=insist where nobody else is on that network',
  )
}

/** Why a request to a page of the sandbox is refused; null where it may come in. */
export function refusalOfSandbox(request: Request, settings: Settings): Refusal | null {
  const { hostname, host } = new URL(request.url)
  const own = new URL(settings.publicUrl)
  // A name of somebody else's that resolves to this machine makes their page one of the same origin.
  const isOurs = isLoopback(hostname) || hostname === own.hostname || hostname === bare(settings.host)
  if (!isOurs) return refuse('forbidden', `${host} is not the name of this server: call it by ${own.host}`)
  const origin = request.headers.get('origin')
  const site = request.headers.get('sec-fetch-site')
  // A link may lead here from anywhere, such as one of a provider's; it only shows the page.
  const isLink =
    request.method === 'GET' &&
    request.headers.get('sec-fetch-mode') === 'navigate' &&
    request.headers.get('sec-fetch-dest') === 'document'
  if (isLink) return null
  // What the browser says itself goes before the origin, which a form of a page without referrer sends as `null`.
  const isForeign =
    site !== null
      ? site !== 'same-origin' && site !== 'none'
      : origin !== null && !isSame(origin, [host, own.host])
  return isForeign ? refuse('forbidden', 'Pages of other sites may not play in the sandbox') : null
}

const bare = (host: string): string => (host.includes(':') ? `[${host}]` : host)

const isSame = (origin: string, hosts: readonly string[]): boolean =>
  URL.canParse(origin) && hosts.includes(new URL(origin).host)
