import { join } from 'node:path'
import { defineConfig } from 'vitest/config'

// Hundreds of processes read the same thousand modules: compiled by the first, found by the others.
process.env.NODE_COMPILE_CACHE ??= join(import.meta.dirname, 'node_modules/.cache/compile')

/** Files that start processes, which would stay for whoever shares theirs. */
const alone = ['test/scripts/**/*.test.ts']

const common = {
  pool: 'forks',
  setupFiles: 'test/support/setup.ts',
  // Node reads TypeScript by itself: tests import as the server does.
  experimental: { viteModuleRunner: false },
  testTimeout: 30_000,
  hookTimeout: 60_000,
} as const

export default defineConfig({
  test: {
    globalSetup: ['test/support/global-setup.ts'],
    maxWorkers: 2,
    projects: [
      {
        // A process reads the thousand modules once for all its files: each has a database and a server of its own.
        test: { ...common, name: 'shared', include: ['test/**/*.test.ts'], exclude: alone, isolate: false },
      },
      { test: { ...common, name: 'alone', include: alone } },
    ],
  },
})
