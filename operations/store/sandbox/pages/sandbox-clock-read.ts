import { jsonAnswer, page } from '#runtime/page'

export default page({
  method: 'GET',
  path: '/sandbox/api/clock',
  description: "The server's clock, and how far it was moved.",
  trust: 'Only where the sandbox is on, which production never is.',
  sandboxOnly: true,
  handler: ({ clock }) =>
    jsonAnswer({
      now: clock.now().toISOString(),
      offsetSeconds: Math.round(clock.offset / 1000),
    }),
})
