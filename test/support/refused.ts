import { expect } from 'vitest'

/** What a refused call answers: to be matched with its answer. */
export const refused = (status: number, message: string | RegExp): object => ({
  status,
  body: {
    error: {
      message:
        typeof message === 'string' ? expect.stringContaining(message) : expect.stringMatching(message),
    },
  },
})
