/** Thrown if settings are invalid and the server cannot start. The message lists all issues. */
export class SettingsError extends Error {}
