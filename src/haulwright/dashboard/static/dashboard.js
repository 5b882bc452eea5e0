// Everything here is a help: the pages are read, and the forms sent, without it.
import { startFilter } from "./filter.js";
import { startKeys } from "./keys.js";
import { startLive } from "./live.js";
import { startThemes } from "./themes.js";
import { startTimes } from "./times.js";
import { startCopying } from "./copying.js";

startThemes();
startKeys();
startTimes();
startCopying();
startFilter();
startLive();
