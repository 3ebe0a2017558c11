/** Checks the connections of a store, and those of the server itself. */
import { type ConnectionCheck, portNames } from '#operations/store/health/kinds'
import { readHealth } from '#operations/store/health/read-health'
import type { Context } from '#runtime/context'
import type { PortName } from '#runtime/ports/ports'

export interface CheckedConnection extends ConnectionCheck {
  isFine: boolean
  /** The connection's health, as recorded by earlier calls. */
  state: string
  since: string | null
}

/**
 * Checks all connections, or those of the port `only`. If that port has no connection, this is reported as a finding.
 */
export async function checkConnections(ctx: Context, only?: PortName): Promise<CheckedConnection[]> {
  const states = await readHealth(ctx)
  const all: CheckedConnection[] = []
  for (const port of portNames) {
    if (only !== undefined && port !== only) continue
    const { connectionKinds, serverKinds } = ctx.extensions
    const kinds: Partial<Record<string, { check(ctx: Context): Promise<ConnectionCheck[]> }>> = {
      ...connectionKinds,
      ...serverKinds,
    }
    for (const checked of (await kinds[port]?.check(ctx)) ?? []) {
      const { part, provider } = checked
      const findings = provider === null ? [notConnected(port, only !== undefined)] : checked.findings
      const known = states.find(
        (each) => each.port === port && each.part === part && each.provider === provider,
      )
      all.push({
        ...{ ...checked, findings, isFine: findings.every(({ isFine }) => isFine) },
        ...{ state: known?.state ?? 'connected', since: known?.since.toISOString() ?? null },
      })
    }
  }
  return all
}

const notConnected = (port: PortName, isFault: boolean) => ({
  code: 'not-connected',
  isFine: !isFault,
  message: 'Nothing is connected',
  ...(isFault ? { remedy: findRemedy(port) } : {}),
})

const findRemedy = (port: PortName): string =>
  port === 'messaging'
    ? 'The merchant connects a number: by QR code, an official one, or the shared one'
    : `npm run store -- connect --port ${port} --store … --provider …`

/** Formats a check as text: a line for the connection, and one for each finding. */
export function formatConnection({
  port,
  part,
  provider,
  state,
  since,
  findings,
}: CheckedConnection): string[] {
  const name = `${port}${part ? ` (${part})` : ''}${provider ? `: ${provider}` : ''}`
  const status = state === 'connected' ? '' : `, ${state} since ${since}`
  return [
    `${name}${status}`,
    ...findings.flatMap(({ code, isFine, message, remedy }) => [
      `  ${isFine ? 'fine' : 'MISSING'}  ${message} (${code})`,
      ...(isFine || !remedy ? [] : [`           ${remedy}`]),
    ]),
  ]
}
