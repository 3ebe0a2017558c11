/** The only resource that keys are granted for (RFC 8707): `/mcp` of this server. */
import { OauthError } from './errors.ts'

export const getResourceUrl = (publicUrl: string): string => `${publicUrl}/mcp`

/** Refuses any other resource than `/mcp`. A client may omit the resource, because there is only one. */
export function requireResource(given: string | null, publicUrl: string): void {
  if (given === null) return
  const ours = getResourceUrl(publicUrl)
  const named = URL.canParse(given) ? new URL(given).href.replace(/\/$/, '') : given
  if (named === new URL(ours).href) return
  throw new OauthError('invalid_target', `resource: must be ${ours}, which is all that this server grants`)
}
