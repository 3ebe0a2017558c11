/** `localhost` and `127.0.0.1` are the same server: it answers under the name by which a client calls it. */
import type { Services } from '#runtime/context'

/** Whether a host is a loopback address, which only programs of this machine can reach. */
export function isLoopback(host: string): boolean {
  const name = host.replace(/^\[|\]$/g, '').toLowerCase()
  return (
    name === 'localhost' || name === '::1' || /^(::ffff:)?127(\.\d{1,3}){3}$/.test(name) || name === '127.1'
  )
}

/**
 * Returns `services` with the public URL by which the request names this server. It differs from the setting only if
 * both are loopback addresses with the same port.
 */
export function withRequestedUrl(services: Services, requestUrl: string): Services {
  const { settings } = services
  const [ours, asked] = [new URL(settings.publicUrl), new URL(requestUrl)]
  if (ours.host === asked.host || ours.port !== asked.port) return services
  if (!isLoopback(ours.hostname) || !isLoopback(asked.hostname)) return services
  ours.host = asked.host
  return { ...services, settings: { ...settings, publicUrl: ours.href.replace(/\/$/, '') } }
}
