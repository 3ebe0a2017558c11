import { job } from '#runtime/job'
import { connectionProbe } from '../../handles.ts'
import { probeConnection } from '../../health/probe.ts'

export default job(connectionProbe, {
  description: 'Asks a provider whether it takes our access again',
  retry: { limit: 4, backoffSeconds: 60 },
  timeoutSeconds: 120,
  oneAtATimePer: ({ port, part }) => `${port}:${part}`,
  safeTwice: 'It only asks; one that comes too early waits for its time.',
  run: (ctx, { port, part }) => probeConnection(ctx, port, part),
  // Where nobody is left to act on it: the next call that fails plans another.
  failed: async () => {},
})
