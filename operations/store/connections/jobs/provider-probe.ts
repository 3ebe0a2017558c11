import { serverJob } from '#runtime/job'
import { providerProbe } from '../../handles.ts'
import { probeProvider } from '../../health/probe.ts'

export default serverJob(providerProbe, {
  description: "Probes whether one of the server's own providers accepts our access again",
  retry: { limit: 4, backoffSeconds: 60 },
  timeoutSeconds: 120,
  oneAtATimePer: ({ port, provider }) => `${port}:${provider}`,
  safeTwice: 'It only reads; a run that is too early queues itself for the due time.',
  run: (system, { port, provider }) => probeProvider(system, port, provider),
})
