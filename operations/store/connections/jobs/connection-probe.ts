import { job } from '#runtime/job'
import { connectionProbe } from '../../handles.ts'
import { probeConnection } from '../../health/probe.ts'

export default job(connectionProbe, {
  description: 'Probes whether a provider accepts our access again',
  retry: { limit: 4, backoffSeconds: 60 },
  timeoutSeconds: 120,
  oneAtATimePer: ({ port, part }) => `${port}:${part}`,
  safeTwice: 'It only reads; a run that is too early queues itself for the due time.',
  run: (ctx, { port, part }) => probeConnection(ctx, port, part),
  // Nothing to do: the next failed call schedules another probe.
  failed: async () => {},
})
