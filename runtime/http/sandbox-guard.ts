/**
 * Restricts access to the sandbox's pages (simulated providers, clock, mail), which need no key. Only programs on this
 * machine may call them; a web page only if this server serves it. Otherwise any page that a developer opens could move
 * the clock or read the mail.
 */

import { SettingsError } from '#db/settings-error'
import { type ApiError, refuse } from '#runtime/errors'
import type { Settings } from '#runtime/server/settings'
import { isLoopback } from './loopback.ts'

/** Throws if the sandbox is on and `HOST` is not a loopback address, except with `SANDBOX=insist`. */
export function refuseOpenSandbox({ sandbox, sandboxInsisted, host }: Settings): void {
  if (!sandbox || sandboxInsisted || isLoopback(host)) return
  throw new SettingsError(
    `SANDBOX: is on, and HOST ${host} is no loopback address: whoever reaches it could move the clock and read the ` +
      'mail. Set SANDBOX=off, or HOST=127.0.0.1, or SANDBOX=insist where nobody else is on that network',
  )
}

/** Why a request to a sandbox page is refused; null if it is allowed. */
export function checkSandboxRequest(request: Request, settings: Settings): ApiError | null {
  const { hostname, host } = new URL(request.url)
  const own = new URL(settings.publicUrl)
  // The name must be ours: an attacker's name that resolves to this machine would have the same origin as the
  // attacker's page (DNS rebinding).
  const isOurs = isLoopback(hostname) || hostname === own.hostname || hostname === bracketIPv6(settings.host)
  if (!isOurs) return refuse('forbidden', `${host} is not the name of this server: call it by ${own.host}`)
  const origin = request.headers.get('origin')
  const site = request.headers.get('sec-fetch-site')
  // Following a link is allowed from any site, for example a provider's: it only shows the page.
  const isLink =
    request.method === 'GET' &&
    request.headers.get('sec-fetch-mode') === 'navigate' &&
    request.headers.get('sec-fetch-dest') === 'document'
  if (isLink) return null
  // `Sec-Fetch-Site` takes precedence over `Origin`, which is `null` for a form on a page without referrer.
  const isForeign =
    site !== null
      ? site !== 'same-origin' && site !== 'none'
      : origin !== null && !isSame(origin, [host, own.host])
  return isForeign ? refuse('forbidden', 'Pages of other sites may not play in the sandbox') : null
}

const bracketIPv6 = (host: string): string => (host.includes(':') ? `[${host}]` : host)

const isSame = (origin: string, hosts: readonly string[]): boolean =>
  URL.canParse(origin) && hosts.includes(new URL(origin).host)
