/** What the providers of a store, and the server's own, say is missing. */
import { type Checked, portNames } from '#operations/store/health/kinds'
import { readStandings } from '#operations/store/health/read'
import type { Context } from '#runtime/context'
import type { PortName } from '#runtime/ports/ports'

export interface CheckedConnection extends Checked {
  isFine: boolean
  /** As calls came out until now. */
  state: string
  since: string | null
}

/** Each connection of each port, or of one. Asked by name, a port that nothing is connected to is a fault. */
export async function checkConnections(ctx: Context, only?: PortName): Promise<CheckedConnection[]> {
  const standings = await readStandings(ctx)
  const all: CheckedConnection[] = []
  for (const port of portNames) {
    if (only !== undefined && port !== only) continue
    const { connectionKinds, serverKinds } = ctx.wired
    const kinds: Partial<Record<string, { check(ctx: Context): Promise<Checked[]> }>> = {
      ...connectionKinds,
      ...serverKinds,
    }
    for (const checked of (await kinds[port]?.check(ctx)) ?? []) {
      const { part, provider } = checked
      const findings = provider === null ? [notConnected(port, only !== undefined)] : checked.findings
      const known = standings.find(
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
  ...(isFault ? { remedy: remedyOf(port) } : {}),
})

const remedyOf = (port: PortName): string =>
  port === 'messaging'
    ? 'The merchant connects a number: by QR code, an official one, or the shared one'
    : `npm run store -- connect --port ${port} --store … --provider …`

/** The same to read: a line for the connection, one for each thing that was found. */
export function told({ port, part, provider, state, since, findings }: CheckedConnection): string[] {
  const name = `${port}${part ? ` (${part})` : ''}${provider ? `: ${provider}` : ''}`
  const standing = state === 'connected' ? '' : `, ${state} since ${since}`
  return [
    `${name}${standing}`,
    ...findings.flatMap(({ code, isFine, message, remedy }) => [
      `  ${isFine ? 'fine' : 'MISSING'}  ${message} (${code})`,
      ...(isFine || !remedy ? [] : [`           ${remedy}`]),
    ]),
  ]
}
