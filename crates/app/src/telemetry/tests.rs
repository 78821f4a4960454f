use super::*;
use crate::config::Sources;

fn plan(file: &str, env: &[(&str, &str)]) -> Result<Option<Plan>, EndpointError> {
    let env: BTreeMap<String, String> =
        env.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    let path = std::path::PathBuf::from("/setpoint.toml");
    let sources = Sources {
        files: vec![path.clone()],
        texts: BTreeMap::from([(path, file.to_owned())]),
        env: env.clone(),
        ..Sources::default()
    };
    Plan::of(&Config::load(&sources).unwrap(), &env)
}

fn ways(file: &str, env: &[(&str, &str)]) -> (Option<String>, Option<String>) {
    let plan = plan(file, env).unwrap();
    plan.map_or((None, None), |plan| (plan.settings.traces, plan.settings.metrics))
}

#[test]
fn nothing_is_sent_without_an_address() {
    assert_eq!(plan("", &[]).unwrap(), None);
    assert_eq!(plan("", &[("OTEL_SERVICE_NAME", "x"), ("OTEL_EXPORTER_OTLP_ENDPOINT", " ")]).unwrap(), None);
    assert_eq!(plan("telemetry.content = true", &[]).unwrap(), None);
}

#[test]
fn the_address_comes_from_a_file_or_the_usual_variables() {
    let (traces, metrics) =
        (Some("http://c:1/v1/traces".to_owned()), Some("http://c:1/v1/metrics".to_owned()));
    let both = (traces.clone(), metrics.clone());
    assert_eq!(ways("telemetry.otlp_endpoint = 'http://c:1'", &[]), both);
    let general = ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://c:1/");
    assert_eq!(ways("telemetry.otlp_endpoint = 'http://other'", &[general]), both);
    assert_eq!(ways("", &[general, ("OTEL_METRICS_EXPORTER", "none")]), (traces, None));
    assert_eq!(ways("", &[general, ("OTEL_TRACES_EXPORTER", "none")]), (None, metrics));
    assert_eq!(ways("", &[general, ("OTEL_SDK_DISABLED", "TRUE")]), (None, None));
    let own = ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "http://t/spans");
    assert_eq!(ways("", &[own]), (Some("http://t/spans".to_owned()), None));
    let named = plan("", &[general, ("OTEL_SERVICE_NAME", "desk")]).unwrap().unwrap();
    assert_eq!((named.settings.service.as_str(), named.content), ("desk", Content::Omitted));
    let said = plan("telemetry.content = true", &[general]).unwrap().unwrap();
    assert_eq!((said.settings.service.as_str(), said.content), ("setpoint", Content::Exported));
    assert_eq!(said.shown(), "spans go to http://c:1/…, metrics go to http://c:1/…");
}

#[test]
fn an_invalid_address_is_shown_without_its_password() {
    let error = plan("telemetry.otlp_endpoint = 'grpc://a:secret@c:4317'", &[]).unwrap_err().to_string();
    assert!(error.contains("http://") && !error.contains("secret"), "{error}");
}
