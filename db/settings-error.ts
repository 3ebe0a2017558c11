/** Invalid settings, with every issue in the message: the server cannot start. */
export class SettingsError extends Error {}
