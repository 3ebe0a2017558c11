/** Settings that nothing can start with: thrown with every fault in its message. */
export class SettingsError extends Error {}
