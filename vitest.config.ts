import { join } from 'node:path'
import { defineConfig } from 'vitest/config'
import LongestFirst from './test/support/sequencer.ts'

// Hundreds of processes read the same thousand modules: compiled by the first, found by the others.
process.env.NODE_COMPILE_CACHE ??= join(import.meta.dirname, 'node_modules/.cache/compile')

export default defineConfig({
  test: {
    globalSetup: ['test/support/global-setup.ts'],
    include: ['test/**/*.test.ts'],
    setupFiles: ['test/support/setup.ts'],
    // Of two processors: a test in a browser or of processes waits for most of its time.
    maxWorkers: 3,
    sequence: { sequencer: LongestFirst },
    pool: 'forks',
    // A process reads the thousand modules once for all its files: each has a database and a server of its own.
    isolate: false,
    // Node reads TypeScript by itself: tests import as the server does.
    experimental: { viteModuleRunner: false },
    testTimeout: 30_000,
    hookTimeout: 60_000,
    // What is awaited comes when it comes: vitest's own second is a timed test on a busy machine.
    // What failed once in a long run is told in the words of its assertion: whole.
    chaiConfig: { truncateThreshold: 2000 },
    expect: { poll: { timeout: 20_000, interval: 20 } },
  },
})
